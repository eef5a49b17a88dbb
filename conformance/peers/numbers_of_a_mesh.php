<?php
// The values that PHP's client sends, and what PHP's server answers.

function ints(): array
{
    return [0, 1, -1, 2 ** 31 - 1, -(2 ** 31), ...range(-300, 299, 7)];
}

/** Finite doubles over all exponents, without -0.0: PHP reads "-0" as 0. */
function hard_doubles(int $count): array
{
    mt_srand(1);
    $values = [0.0, 5e-324, PHP_FLOAT_MAX, 0.1];
    while (count($values) < $count) {
        $value = unpack("e", pack("VV", mt_rand() << 1, mt_rand() << 1))[1];
        if (is_finite($value)) {
            $values[] = $value;
        }
    }
    return $values;
}

function bits(array $values): array
{
    return array_map(fn($value) => bin2hex(pack("E", $value)), $values);
}

/** Every inner point becomes the mean of its four neighbours; and the largest change. */
function jacobi(int $rows, int $columns, array $old): array
{
    [$new, $residual] = [$old, 0.0];
    for ($row = 1; $row < $rows - 1; $row++) {
        for ($i = $row * $columns + 1; $i < ($row + 1) * $columns - 1; $i++) {
            $new[$i] = 0.25 * ($old[$i - $columns] + $old[$i + $columns] + $old[$i - 1] + $old[$i + 1]);
            $residual = max($residual, abs($new[$i] - $old[$i]));
        }
    }
    return [$new, $residual];
}
