# SOAP::Lite's side of rpc/encoded messages. It knows no WSDL: each value says what type it has.
#
#   perl soap_lite_inventory.pl            serves on a free port of the loopback and prints it; ends when its input is closed
#   perl soap_lite_inventory.pl ADDRESS    calls a service and checks the answers
use strict;
use warnings;
use utf8;

package Inventory;

sub echoItem    { return SOAP::Data->name(return => $_[1]) }
sub echoDoubles { return SOAP::Data->name(return => $_[1]) }

sub refuse {
    die SOAP::Fault->faultcode('Client')->faultstring($_[1])->faultdetail(SOAP::Data->name(problem => { code => 7 }));
}

package main;
use POSIX ();
use SOAP::Lite;
use SOAP::Transport::HTTP;

my $namespace = 'urn:bsoap:inventory';

sub same {
    my ($found, $expected, $what) = @_;
    die "$what: '$found' is not '$expected'\n" unless $found eq $expected;
}

sub serve {
    my $server = SOAP::Transport::HTTP::Daemon->new(LocalAddr => '127.0.0.1', LocalPort => 0);
    # Without this, it makes base64 of texts that are not ASCII.
    my %types = %{ $server->serializer->typelookup };
    delete $types{base64Binary};
    $server->serializer->typelookup(\%types);
    $server->dispatch_with({ $namespace => 'Inventory' });
    $| = 1;
    print $server->sockport, "\n";
    # Ends with its input, at which the handler of connections does not look.
    my $server_process = $$;
    if (!fork) {
        close STDOUT;
        close STDERR;
        1 while <STDIN>;
        kill KILL => $server_process;
        POSIX::_exit(0);
    }
    $server->handle;
}

sub item {
    my ($name, $count, $note, @related) = @_;
    my @members = (
        SOAP::Data->name(name => $name)->type('string'),
        SOAP::Data->name(count => $count),
        SOAP::Data->name(price => '0.1')->type('decimal'),
        SOAP::Data->name(made => '2024-02-29T00:00:00Z')->type('dateTime'),
        SOAP::Data->name(note => $note)->type('string'),
        @related,
    );
    return SOAP::Data->value(@members);
}

sub check {
    my $client = SOAP::Lite->uri($namespace)->proxy($_[0])->on_action(sub { join '#', @_ });
    my $nut = SOAP::Data->name(related => \item('nut', 2147483647, ''));
    my $answer = $client->call(echoItem => SOAP::Data->name(item => \item('bolt Łódź & <co>', -7, undef, $nut)));
    die $answer->faultstring if $answer->fault;
    my $found = $answer->result;
    same($found->{name}, 'bolt Łódź & <co>', 'echoItem name');
    same("$found->{count} $found->{price} $found->{made}", '-7 0.1 2024-02-29T00:00:00Z', 'echoItem');
    same(defined $found->{note} ? 'a note' : 'nil', 'nil', 'echoItem note');
    same("$found->{related}{name} $found->{related}{count}", 'nut 2147483647', 'echoItem related');
    # Perl writes 15 digits.
    my @numbers = map { (1 + $_ / 4) * 2**($_ % 9 - 4) } 0 .. 9999;
    my @values = map { SOAP::Data->value($_)->type('double') } @numbers;
    my $doubles = $client->call(echoDoubles => SOAP::Data->name(values => \@values));
    die $doubles->faultstring if $doubles->fault;
    my @found = @{ $doubles->result };
    same(scalar @found, scalar @numbers, 'echoDoubles');
    same($found[$_], $numbers[$_], "echoDoubles $_") for 0 .. 9999;
    my $refused = $client->call(refuse => SOAP::Data->name(reason => 'no ü')->type('string'));
    die "refuse: no fault\n" unless $refused->fault;
    same($refused->faultstring, 'no ü', 'refuse');
    same($refused->faultdetail->{problem}{code}, 7, 'refuse: the detail');
}

@ARGV ? check($ARGV[0]) : serve();
