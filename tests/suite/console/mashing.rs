//! A hundred thousand keys at random on screens of any size: no panic, and always a way out.

use fabdeck::console::Depth;
use fabdeck::session::interactive::{ACTIONS, Happening, Key, Press, ScreenId, Size};
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::desk::{appearance, failed, frame, look, shared};

const KEYS: usize = 100_000;
/// Keys between two looks for the way out.
const BURST: usize = 200;

fn key(dice: &mut Xoshiro256PlusPlus) -> Key {
    let die = dice.next_u64() as usize;
    let bound: Vec<Key> =
        ACTIONS.iter().flat_map(|action| action.keys).filter_map(|key| key.parse().ok()).collect();
    match die % 10 {
        0 => Key::plain(Press::Char(char::from(b' ' + (die / 10 % 95) as u8))),
        1 => {
            Key::plain([Press::Backspace, Press::Delete, Press::Tab, Press::Esc, Press::Enter][die / 10 % 5])
        }
        _ => {
            let key = bound[die / 10 % bound.len()];
            // Leaving is tried at the end of each burst.
            if key == Key::ctrl('q') { Key::plain(Press::Down) } else { key }
        }
    }
}

#[test]
fn no_key_panics_and_none_leads_into_a_dead_end() {
    let mut dice = Xoshiro256PlusPlus::seed_from_u64(7);
    let look = look("sim:kary,k=2,n=2");
    let unread = || failed("FD-5003: nothing there");
    let colours = appearance("dark", Depth::Sixteen);
    for burst in 0..KEYS / BURST {
        let mut driver = if burst % 20 == 19 { unread() } else { shared(look.clone()) };
        for _ in 0..BURST {
            let die = dice.next_u64();
            if die % 40 == 0 {
                let size =
                    Size { width: 1 + (die / 40 % 500) as u16, height: 1 + (die / 20_000 % 200) as u16 };
                driver.happen(Happening::Resized(size));
            }
            if die % 100 == 1 {
                driver.happen(Happening::Paste("leaf\u{1b}[31m\n叶".to_owned()));
            }
            if die % 100 == 2 {
                // Filters that cannot be read, over lists that change afterwards.
                driver.press(["/ \" enter", "/ lid> enter", "/ leaf enter"][(die / 100 % 3) as usize]);
            }
            driver.happen(Happening::Key(key(&mut dice)));
            if die % 16 == 0 {
                frame(&driver.state, &colours);
            }
        }
        driver.press("esc esc esc esc esc esc esc esc esc esc");
        assert!(driver.state.layer.is_none() && driver.state.prompt.is_none(), "Esc closes what lies above");
        let mut presses = 0;
        while !driver.state.leaving {
            driver.press("q");
            presses += 1;
            assert!(presses < 50, "q leads out of {:?}", driver.state.screen);
        }
        assert_eq!(driver.state.screen, ScreenId::Fabric);
    }
}
