"""Compares two builds of the benchmarks: runs them in turns and prints the ratio of their medians.

python3 bench/compare.py OLD NEW [--set small] [--rounds 5] [--engine 'bsoap*'] [BENCH=CASES …]

OLD and NEW are programs `bsoap-bench`, or commands `bsoap` from when those had the subcommand `bench`. `BENCH=CASES`
is a benchmark and a pattern of cases, such as `'ready=order/*'`; a set is a list of those (see SETS below). Pin the run
to a core and give it priority: `chrt -f 50 taskset -c 1 python3 bench/compare.py …`.
"""

import argparse
import subprocess
from statistics import median

import records

# What decides whether an optimisation is kept: realistic messages first, then the tables of the two papers.
SETS = {
    "small": ["decode=small/1*0", "encode=small/1*0", "ready=small/1/*", "receive=small/1/*"],
    "order": ["decode=order/1*", "encode=order/1*", "ready=order/1/*", "receive=order/1/*"],
    "polling": ["receive=polling/1/*"],
    "telemetry": ["decode=dsmall/1*00", "encode=dsmall/1*00", "ready=dsmall/1*00/*", "receive=dsmall/1*00/*"],
    "dirty": ["ds-fig04=*/10000/*", "ds-fig05=*/10000/*", "ready=*/1000/dirty*"],
    "partitions": ["dds-table1=dhard/25000/*"],
}


def run(program, benchmark, cases, engines):
    """The times of one run in nanoseconds, by benchmark, case and engine."""
    command = [program, *(["bench"] if program.endswith("/bsoap") else []), benchmark, "--json", "--case", cases]
    for engine in engines:
        command += ["--engine", engine]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {(it["bench"], it["case"], it["engine"]): it["ns"] for it in records.parse(out.splitlines())}


def main():
    parser = argparse.ArgumentParser(description="Runs two builds of the benchmarks in turns.")
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("cases", nargs="*", metavar="BENCH=CASES")
    parser.add_argument("--set", choices=SETS, action="append", default=[])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--engine", action="append", default=[])
    arguments = parser.parse_args()
    print(f"{'case':<44}{'engine':<18}{'old, ns':>12}{'new, ns':>12}{'new / old':>11}")
    for chosen in [*arguments.cases, *(case for name in arguments.set for case in SETS[name])]:
        benchmark, _, cases = chosen.partition("=")
        olds, news = {}, {}
        for _ in range(arguments.rounds):
            for program, times in ((arguments.old, olds), (arguments.new, news)):
                for case, ns in run(program, benchmark, cases or "*", arguments.engine or ["bsoap*"]).items():
                    times.setdefault(case, []).append(ns)
        for case in news:
            name, new = f"{case[0]} {case[1]}", median(news[case])
            old = median(olds[case]) if case in olds else None
            ratio = f"{new / old:.3f}" if old else "–"
            print(f"{name:<44}{case[2]:<18}{old if old else '–':>12}{new:>12}{ratio:>11}", flush=True)


if __name__ == "__main__":
    main()
