//! Named expressions that refer to each other in any order: each is evaluated after those it depends on.

/// Numbered entries with dependencies.
pub(super) trait Chain {
    /// Whether an entry has been read or rejected.
    fn settled(&self, entry: usize) -> bool;
    /// Settles an entry, or returns the entry that must be settled first.
    fn settle(&mut self, entry: usize) -> Result<(), usize>;
    /// Rejects entries that depend on each other in a circle.
    fn refuse_circle(&mut self, entries: &[usize]);
}

/// Settles an entry and its dependencies, without recursion: chains may be as long as the file.
pub(super) fn settle(chain: &mut impl Chain, first: usize) {
    let mut path = vec![first];
    // Positions on the path by entry.
    let mut on_path = std::collections::HashMap::from([(first, 0)]);
    while let Some(&entry) = path.last() {
        let needed = if chain.settled(entry) { None } else { chain.settle(entry).err() };
        match needed {
            None => {
                path.pop();
                on_path.remove(&entry);
            }
            Some(needed) => match on_path.get(&needed) {
                Some(&start) => {
                    let circle = path.split_off(start);
                    circle.iter().for_each(|e| {
                        on_path.remove(e);
                    });
                    chain.refuse_circle(&circle);
                }
                None => {
                    on_path.insert(needed, path.len());
                    path.push(needed);
                }
            },
        }
    }
}

/// The names in a circle as text; only the first ones if it is long.
pub(super) fn circle(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let middle = if names.len() > SHOWN { "... -> " } else { "" };
    format!("{} -> {middle}{}", names[..names.len().min(SHOWN)].join(" -> "), names[0])
}
