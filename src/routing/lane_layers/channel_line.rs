//! Channels in a line, each with a number: who stands before another has the lower one. Numbers leave room, so a few move
//! without the others hearing of it; where the room is used up, all get new numbers.

/// Before the first and behind the last of the line, which is a ring through this place.
const END: usize = 0;

#[derive(Clone, Debug)]
pub(super) struct ChannelLine {
    /// Of each place: its number, and who stands beside it. A channel has the place behind its own index.
    number: Vec<u64>,
    before: Vec<u32>,
    behind: Vec<u32>,
}

fn place(channel: u32) -> usize {
    channel as usize + 1
}

impl ChannelLine {
    /// `rank` has where each channel stands, every rank once.
    pub(super) fn new(rank: &[u32]) -> Self {
        let places = rank.len() + 1;
        let mut ring = vec![END as u32; places];
        for (channel, rank) in (0..).zip(rank) {
            ring[*rank as usize + 1] = place(channel) as u32;
        }
        let (mut before, mut behind) = (vec![0; places], vec![0; places]);
        for (at, own) in ring.iter().enumerate() {
            let next = ring[(at + 1) % places];
            behind[*own as usize] = next;
            before[next as usize] = *own;
        }
        let mut line = Self { number: vec![0; places], before, behind };
        line.renumber();
        line
    }

    pub(super) fn number(&self, channel: u32) -> u64 {
        self.number[place(channel)]
    }

    /// Lets some, in the order they are given, step out and in again right behind one that is none of them.
    pub(super) fn move_behind(&mut self, channel: u32, some: &[u32]) {
        self.unlink(some);
        self.link(place(channel), some);
    }

    /// The same right before one.
    pub(super) fn move_before(&mut self, channel: u32, some: &[u32]) {
        self.unlink(some);
        self.link(self.before[place(channel)] as usize, some);
    }

    fn unlink(&mut self, some: &[u32]) {
        for own in some.iter().map(|channel| place(*channel)) {
            let (before, behind) = (self.before[own], self.behind[own]);
            self.behind[before as usize] = behind;
            self.before[behind as usize] = before;
        }
    }

    fn link(&mut self, mut at: usize, some: &[u32]) {
        let last = self.behind[at];
        let top = if last as usize == END { u64::MAX } else { self.number[last as usize] };
        let low = self.number[at];
        let step = (top - low) / (some.len() as u64 + 1);
        let mut number = low;
        for own in some.iter().map(|channel| place(*channel)) {
            number += step;
            self.number[own] = number;
            self.behind[at] = own as u32;
            self.before[own] = at as u32;
            at = own;
        }
        self.behind[at] = last;
        self.before[last as usize] = at as u32;
        if step == 0 {
            self.renumber();
        }
    }

    fn renumber(&mut self) {
        let step = u64::MAX / (self.number.len() as u64 + 1);
        let mut at = END;
        for turn in 0..self.number.len() as u64 {
            self.number[at] = turn * step;
            at = self.behind[at] as usize;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn in_order(line: &ChannelLine) -> Vec<u32> {
        let mut all: Vec<u32> = (0..line.number.len() as u32 - 1).collect();
        all.sort_by_key(|channel| line.number(*channel));
        let told: Vec<u32> = std::iter::successors(Some(line.behind[END]), |at| {
            Some(line.behind[*at as usize]).filter(|next| *next as usize != END)
        })
        .map(|at| at - 1)
        .collect();
        assert_eq!(all, told);
        all
    }

    proptest! {
        #[test]
        fn a_moved_channel_stands_at_its_target_and_no_other_moves(
            moves in prop::collection::vec((0usize..9, 0usize..9, 1usize..4, any::<bool>()), 0..40),
        ) {
            let mut line = ChannelLine::new(&[2, 0, 1, 5, 4, 3, 8, 7, 6]);
            let mut model = vec![1, 2, 0, 5, 4, 3, 8, 7, 6];
            for (to, from, many, behind) in moves {
                let to = model[to];
                let some: Vec<u32> = model.iter().copied().skip(from).take(many).filter(|own| *own != to).collect();
                model.retain(|own| !some.contains(own));
                let at = model.iter().position(|own| *own == to).unwrap();
                if behind {
                    line.move_behind(to, &some);
                    model.splice(at + 1..at + 1, some);
                } else {
                    line.move_before(to, &some);
                    model.splice(at..at, some);
                }
                prop_assert_eq!(in_order(&line), model.clone());
            }
        }
    }

    #[test]
    fn room_that_is_used_up_is_made_again() {
        let mut line = ChannelLine::new(&[0, 1, 2, 3]);
        for turn in 0..200 {
            // Two of them step behind the first one, in turns: each time half of the room there is left.
            let (one, other) = if turn % 2 == 0 { (1, 2) } else { (2, 1) };
            line.move_behind(0, &[one]);
            assert_eq!(in_order(&line), [0, one, other, 3]);
        }
    }
}
