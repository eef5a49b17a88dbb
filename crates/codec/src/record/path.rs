//! The path of the element that a slot belongs to, for errors.

use std::collections::HashMap;

use crate::plan::{ElementId, Plan};
use crate::record::Record;
use crate::record::regions::count;
use crate::record::walk::{Event, Walk};

/// The path of the innermost element that a slot belongs to, such as `/order/item[3]/note`. Elements with earlier siblings
/// of the same name have a number. Empty if the Record does not fit its Plan.
pub(crate) fn of_slot(record: &Record, slot: usize) -> String {
    let Ok((mut walk, root)) = Walk::new(record) else {
        return String::new();
    };
    let mut path = vec![(root.element, 1)];
    // The number of children of each name so far, for each element on the path.
    let mut seen: Vec<HashMap<ElementId, usize>> = vec![HashMap::new()];
    while walk.at() <= slot {
        match walk.next() {
            Ok(Some(event @ Event::Start(start))) => {
                path.push((start.element, 1 + count(&mut seen, start.element, 1)));
                seen.push(HashMap::new());
                let mut after = walk.clone();
                if after.skip(event).is_ok() && after.at() <= slot && start.at < after.at() {
                    walk = after;
                    path.pop();
                    seen.pop();
                }
            }
            Ok(Some(Event::End(_))) => {
                path.pop();
                seen.pop();
            }
            Ok(Some(_)) => {}
            Ok(None) | Err(_) => break,
        }
    }
    path.iter()
        .map(|&(element, nth)| step(&record.plan, element, nth))
        .collect()
}

fn step(plan: &Plan, element: ElementId, nth: usize) -> String {
    let name = plan.vocabulary.local(plan.element(element).name);
    if nth > 1 {
        format!("/{name}[{nth}]")
    } else {
        format!("/{name}")
    }
}
