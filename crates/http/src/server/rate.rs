//! How many requests a second a network may send.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::pool::Network;
use crate::limits::MAX_COUNTED_NETWORKS;

/// Counts the requests of each network: a bucket that fills with `rate` tokens a second, up to those of one second.
#[derive(Debug)]
pub(super) struct RateLimit {
    rate: f64,
    buckets: Mutex<HashMap<Network, Bucket>>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    tokens: f64,
    filled: Instant,
}

impl RateLimit {
    pub(super) fn new(per_second: u32) -> Self {
        Self {
            rate: f64::from(per_second.max(1)),
            buckets: Mutex::default(),
        }
    }

    /// Counts a request. Returns false if the network has sent too many.
    pub(super) fn allows(&self, network: Network) -> bool {
        self.allows_at(network, Instant::now())
    }

    fn allows_at(&self, network: Network, now: Instant) -> bool {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MAX_COUNTED_NETWORKS && !buckets.contains_key(&network) {
            // A full bucket is that of a network that is not known.
            buckets.retain(|_, bucket| bucket.at(now, self.rate).tokens < self.rate);
            if buckets.len() >= MAX_COUNTED_NETWORKS {
                buckets.clear();
            }
        }
        let bucket = buckets.entry(network).or_insert(Bucket {
            tokens: self.rate,
            filled: now,
        });
        *bucket = bucket.at(now, self.rate);
        let is_allowed = bucket.tokens >= 1.0;
        if is_allowed {
            bucket.tokens -= 1.0;
        }
        is_allowed
    }
}

impl Bucket {
    fn at(self, now: Instant, rate: f64) -> Self {
        let passed = now.saturating_duration_since(self.filled).as_secs_f64();
        Self {
            tokens: (self.tokens + passed * rate).min(rate),
            filled: now,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};
    use std::time::Duration;

    use super::*;

    #[test]
    fn each_network_has_its_own_rate() {
        let limit = RateLimit::new(10);
        let [one, other] =
            [1, 2].map(|last| Network::of(IpAddr::V4(Ipv4Addr::new(10, 0, 0, last))));
        let begun = Instant::now();
        let sent = |network, at| (0..20).filter(|_| limit.allows_at(network, at)).count();
        assert_eq!(sent(one, begun), 10);
        assert_eq!(sent(one, begun + Duration::from_millis(500)), 5);
        assert_eq!(sent(other, begun), 10);
        assert_eq!(sent(one, begun + Duration::from_secs(60)), 10);
    }

    #[test]
    fn the_number_of_networks_is_bounded() {
        let limit = RateLimit::new(1);
        for number in 0..2 * MAX_COUNTED_NETWORKS as u32 {
            limit.allows(Network::of(IpAddr::V4(Ipv4Addr::from_bits(number))));
        }
        assert!(limit.buckets.lock().unwrap().len() <= MAX_COUNTED_NETWORKS);
    }
}
