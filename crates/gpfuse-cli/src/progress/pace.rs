//! How long chains will still take, from the draws that they made.

/// Draws after the warm-up from which their own time is known.
const KNOWN: usize = 20;

/// Where a chain is. All times are seconds since the same moment.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Place {
    done: usize,
    total: usize,
    /// When it was first heard of, and with how many draws.
    begun: (f64, usize),
    /// The same after its warm-up.
    drawing: Option<(f64, usize)>,
    /// When it was last heard of.
    now: f64,
}

impl Place {
    /// Seconds of a draw: of those after the warm-up once there are some, else of all so far.
    fn pace(&self) -> Option<f64> {
        let since = |(at, done): (f64, usize)| {
            let made = self.done - done;
            (made > 0).then(|| (self.now - at) / made as f64)
        };
        match self.drawing.filter(|(_, done)| self.done - done >= KNOWN) {
            Some(drawing) => since(drawing),
            None => since(self.begun),
        }
    }

    fn left(&self) -> usize {
        self.total.saturating_sub(self.done)
    }
}

/// The chains of a run, begun or not.
#[derive(Debug, Clone)]
pub(super) struct Pace(Vec<Option<Place>>);

impl Pace {
    pub(super) fn new(chains: usize) -> Pace {
        Pace(vec![None; chains])
    }

    /// A chain has made `done` draws of `total`.
    pub(super) fn hear(
        &mut self,
        chain: usize,
        done: usize,
        total: usize,
        warming_up: bool,
        now: f64,
    ) {
        let Some(place) = self.0.get_mut(chain) else { return };
        let new = Place { done, total, begun: (now, done), drawing: None, now };
        // A chain that begins anew is another one.
        let known = place.get_or_insert(new);
        if done < known.done {
            *known = new;
        }
        (known.done, known.total, known.now) = (done, total, now);
        if !warming_up {
            known.drawing.get_or_insert((now, done));
        }
    }

    /// Seconds that a chain will still take.
    pub(super) fn chain(&self, chain: usize) -> Option<f64> {
        let place = self.0.get(chain)?.as_ref()?;
        place.pace().map(|pace| pace * place.left() as f64)
    }

    /// Seconds that all of them will still take: those that have not begun are as slow as the others, and
    /// as many run at a time.
    pub(super) fn all(&self) -> Option<f64> {
        let places: Vec<&Place> = self.0.iter().flatten().collect();
        let paces: Vec<f64> = places.iter().filter_map(|place| place.pace()).collect();
        if paces.is_empty() {
            return None;
        }
        let usual = paces.iter().sum::<f64>() / paces.len() as f64;
        let longest = places.iter().map(|p| p.pace().unwrap_or(usual) * p.left() as f64);
        let longest = longest.fold(0.0, f64::max);
        let waiting = (self.0.len() - places.len()) * places.iter().map(|p| p.total).max()?;
        let running = places.iter().filter(|place| place.left() > 0).count().max(1);
        let left = places.iter().map(|place| place.left()).sum::<usize>() + waiting;
        Some(longest.max(usual * left as f64 / running as f64))
    }
}

/// Seconds in a few letters.
pub(super) fn brief(seconds: f64) -> String {
    match seconds.max(0.0).ceil() as u64 {
        s @ 0..100 => format!("{s}s"),
        s @ 100..6000 => format!("{}m", (s + 30) / 60),
        s => format!("{}h", (s + 1800) / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four chains of 100 draws, two at a time, a second each: after 10 draws of two of them, 90 of these
    /// and 100 of the others are left.
    #[test]
    fn chains_that_wait_count() {
        let mut pace = Pace::new(4);
        assert_eq!(pace.all(), None);
        for done in 1..=10 {
            for chain in 0..2 {
                pace.hear(chain, done, 100, true, done as f64);
            }
        }
        assert_eq!(pace.chain(0), Some(90.0));
        assert_eq!(pace.chain(2), None);
        assert_eq!(pace.all(), Some(190.0));
    }

    /// A warm-up of slow draws says nothing about the quick ones after it, once there are some.
    #[test]
    fn draws_after_the_warm_up_have_their_own_pace() {
        let mut pace = Pace::new(1);
        (1..=50).for_each(|done| pace.hear(0, done, 100, true, done as f64));
        assert_eq!(pace.chain(0), Some(50.0));
        (51..=80).for_each(|done| pace.hear(0, done, 100, false, 50.0 + 0.1 * (done - 50) as f64));
        assert!((pace.chain(0).unwrap() - 2.0).abs() < 1e-9);
        // The chain goes on.
        pace.hear(0, 81, 200, false, 53.1);
        assert!((pace.chain(0).unwrap() - 11.9).abs() < 1e-9);
    }

    #[test]
    fn times_are_short() {
        let found = [0.0, 3.2, 99.0, 150.0, 5000.0, 90_000.0].map(brief);
        assert_eq!(found, ["0s", "4s", "99s", "3m", "83m", "25h"]);
    }
}
