//! The open connections: how many there may be, and which is closed to admit another one.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::activity::Activity;

/// The open connections of a server.
#[derive(Debug)]
pub(super) struct Pool {
    max: usize,
    max_per_network: usize,
    members: Mutex<Members>,
    /// Notified when a connection has ended.
    left: Notify,
}

#[derive(Debug, Default)]
struct Members {
    next: u64,
    open: HashMap<u64, Member>,
    /// How many of them each network has.
    by_network: HashMap<Network, usize>,
    /// How many were closed to admit others.
    closed: u64,
}

#[derive(Debug)]
struct Member {
    network: Option<Network>,
    activity: Arc<Activity>,
}

/// An address, or the /64 network of an IPv6 address: one host can have all addresses of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Network(IpAddr);

impl Network {
    pub(super) fn of(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V6(v6) => {
                let [a, b, c, d, ..] = v6.segments();
                IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
            }
            v4 @ IpAddr::V4(_) => v4,
        })
    }
}

/// A connection that is counted until this value is dropped.
#[derive(Debug)]
pub(super) struct Membership {
    pool: Arc<Pool>,
    id: u64,
    pub(super) activity: Arc<Activity>,
}

/// Why a connection is not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Full {
    /// All connections of its network have requests in work.
    Network,
    /// All connections have requests in work.
    Server,
}

impl Pool {
    pub(super) fn new(max: usize, max_per_network: Option<usize>) -> Arc<Self> {
        Arc::new(Self {
            max: max.max(1),
            max_per_network: max_per_network.unwrap_or(usize::MAX).max(1),
            members: Mutex::default(),
            left: Notify::new(),
        })
    }

    /// Admits a connection; the slowest is closed if there are too many. Connections without a network are of trusted proxies.
    pub(super) fn admit(self: &Arc<Self>, network: Option<Network>) -> Result<Membership, Full> {
        let mut members = self.members();
        if let Some(network) = network {
            members.make_space(network, self.max_per_network)?;
        }
        if members.open.len() >= self.max {
            members.close_slowest(None).ok_or(Full::Server)?;
        }
        let activity = Arc::new(Activity::new());
        Ok(Membership {
            pool: Arc::clone(self),
            id: members.add(network, Arc::clone(&activity)),
            activity,
        })
    }

    /// Closes the slowest connection, if there is one that waits for its peer: file descriptors have run out.
    pub(super) fn close_slowest(&self) {
        self.members().close_slowest(None);
    }

    /// Waits until a connection has ended.
    pub(super) async fn left(&self) {
        self.left.notified().await;
    }

    /// How many connections are open, and how many were closed to admit others.
    pub(super) fn counts(&self) -> (usize, u64) {
        let members = self.members();
        (members.open.len(), members.closed)
    }

    fn members(&self) -> MutexGuard<'_, Members> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Members {
    /// Makes space for one more connection of a network.
    fn make_space(&mut self, network: Network, max: usize) -> Result<(), Full> {
        if self.by_network.get(&network).copied() < Some(max) {
            return Ok(());
        }
        self.close_slowest(Some(network)).ok_or(Full::Network)
    }

    /// Closes the slowest connection, of a network or of all. `None` if all have requests in work.
    fn close_slowest(&mut self, network: Option<Network>) -> Option<()> {
        let candidates = self.open.iter().filter_map(|(id, member)| {
            let is_in = network.is_none() || member.network == network;
            Some((is_in.then(|| member.activity.speed())??, *id))
        });
        let (_, id) = candidates.min_by(|(one, _), (other, _)| one.total_cmp(other))?;
        self.remove(id)?.activity.close();
        self.closed += 1;
        Some(())
    }

    /// Adds a connection, and returns its number.
    fn add(&mut self, network: Option<Network>, activity: Arc<Activity>) -> u64 {
        self.next += 1;
        if let Some(network) = network {
            *self.by_network.entry(network).or_default() += 1;
        }
        self.open.insert(self.next, Member { network, activity });
        self.next
    }

    fn remove(&mut self, id: u64) -> Option<Member> {
        let member = self.open.remove(&id)?;
        if let Some(network) = member.network
            && let Some(count) = self.by_network.get_mut(&network)
        {
            *count -= 1;
            if *count == 0 {
                self.by_network.remove(&network);
            }
        }
        Some(member)
    }
}

impl Membership {
    /// The connection belongs to a client of this network, as its proxy says.
    pub(super) fn belongs_to(&self, network: Network) -> Result<(), Full> {
        let mut members = self.pool.members();
        members.make_space(network, self.pool.max_per_network)?;
        // It is gone if it has been closed meanwhile.
        if let Some(member) = members.open.get_mut(&self.id) {
            member.network = Some(network);
            *members.by_network.entry(network).or_default() += 1;
        }
        Ok(())
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        self.pool.members().remove(self.id);
        self.pool.left.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::time::Duration;

    use super::*;

    fn network(last: u8) -> Option<Network> {
        Some(Network::of(IpAddr::V4(Ipv4Addr::new(10, 0, 0, last))))
    }

    fn is_closed(member: &Membership) -> bool {
        let closed = std::pin::pin!(member.activity.closed());
        let context = &mut std::task::Context::from_waker(std::task::Waker::noop());
        closed.poll(context).is_ready()
    }

    #[test]
    fn the_slowest_connection_makes_space() {
        let pool = Pool::new(3, None);
        let [oldest, busy] = [1, 2].map(|last| pool.admit(network(last)).unwrap());
        let request = busy.activity.begin();
        std::thread::sleep(Duration::from_millis(5));
        let young = pool.admit(network(3)).unwrap();
        let newest = pool.admit(network(4)).unwrap();
        assert!(is_closed(&oldest) && !is_closed(&busy) && !is_closed(&young));
        assert_eq!(pool.counts(), (3, 1));
        let requests = [young.activity.begin(), newest.activity.begin()];
        assert_eq!(pool.admit(network(5)).unwrap_err(), Full::Server);
        drop((request, requests, oldest, busy));
        assert_eq!(pool.counts(), (2, 1));
        assert!(pool.admit(network(5)).is_ok());
    }

    #[test]
    fn a_network_has_its_own_limit() {
        let pool = Pool::new(10, Some(2));
        let [one, two] = [(); 2].map(|()| pool.admit(network(1)).unwrap());
        let other = pool.admit(network(2)).unwrap();
        let requests = [one.activity.begin(), two.activity.begin()];
        assert_eq!(pool.admit(network(1)).unwrap_err(), Full::Network);
        drop(requests);
        let third = pool.admit(network(1)).unwrap();
        assert_eq!(
            [&one, &two]
                .map(is_closed)
                .iter()
                .filter(|closed| **closed)
                .count(),
            1
        );
        assert!(!is_closed(&other) && !is_closed(&third));
        // Trusted proxies have no limit of their own.
        let _proxies = [(); 4].map(|()| pool.admit(None).unwrap());
    }

    #[test]
    fn all_addresses_of_a_v6_network_are_one() {
        let of = |text: &str| Network::of(text.parse().unwrap());
        assert_eq!(of("2001:db8:1:2::1"), of("2001:db8:1:2:ffff::9"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_eq!(of("::ffff:10.0.0.1"), of("10.0.0.1"));
    }
}
