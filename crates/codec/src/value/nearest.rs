//! Known names that resemble an unknown one, for error messages.

/// The most names offered.
const SHOWN: usize = 3;
/// Longer names are not compared.
const LONGEST: usize = 64;

/// The known names that resemble a name, at most three, the most similar first.
///
/// ```
/// let known = ["quantity", "price", "@currency", "item"];
/// assert_eq!(bsoap_codec::nearest("quantiy", &known), ["quantity"]);
/// assert_eq!(bsoap_codec::nearest("items", &known), ["item"]);
/// ```
pub fn nearest(name: &str, known: &[&str]) -> Vec<String> {
    if name.len() > LONGEST {
        return Vec::new();
    }
    let lower = name.to_lowercase();
    let distance = |other: &&str| {
        let other = other.to_lowercase();
        let related = !lower.is_empty()
            && (other.contains(&lower) || lower.contains(&*other) && !other.is_empty());
        if other.trim_start_matches('@') == lower {
            0
        } else if related {
            1
        } else {
            edits(&lower, &other)
        }
    };
    let allowed = (1 + name.len() / 4).min(name.len().saturating_sub(1));
    let mut near: Vec<(usize, &str)> = known
        .iter()
        .filter(|other| other.len() <= LONGEST)
        .map(|other| (distance(other), *other))
        .filter(|near| near.0 <= allowed)
        .collect();
    // Of names that contain it, the shortest comes first.
    near.sort_by_key(|near| (near.0, near.1.len().abs_diff(name.len())));
    near.into_iter()
        .take(SHOWN)
        .map(|near| near.1.to_owned())
        .collect()
}

/// The number of letters that have to be added, removed or changed.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, &y) in b.iter().enumerate() {
            let changed = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_names_are_offered() {
        let known = ["quantity", "price", "@currency", "item"];
        assert_eq!(nearest("quantiy", &known), ["quantity"]);
        assert_eq!(nearest("currency", &known), ["@currency"]);
        assert_eq!(nearest("Price", &known), ["price"]);
        assert_eq!(nearest("zzz", &known), Vec::<String>::new());
        assert_eq!(nearest("items", &known), ["item"]);
    }

    #[test]
    fn of_names_that_have_it_in_them_the_shortest_are_offered() {
        let known = [
            "describeOrderStatus",
            "describeOrderItems",
            "orders",
            "describeOrders",
            "describe",
        ];
        assert_eq!(
            nearest("describeOrder", &known),
            ["describeOrders", "describeOrderItems", "describe"]
        );
    }
}
