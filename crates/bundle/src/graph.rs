//! Which modules can reach which, and therefore which may see each other half evaluated.

/// Reachability between modules over imports that are evaluated together. `import()` is not one of them: it evaluates
/// its module after all of these.
#[derive(Debug)]
pub struct Graph {
    reach: Vec<Vec<bool>>,
}

impl Graph {
    /// Returns the graph of the edges from each module.
    pub fn new(edges: &[Vec<usize>]) -> Self {
        let reach = (0..edges.len()).map(|from| {
            let mut seen = vec![false; edges.len()];
            let mut open: Vec<usize> = edges[from].clone();
            while let Some(next) = open.pop() {
                if !std::mem::replace(&mut seen[next], true) {
                    open.extend(&edges[next]);
                }
            }
            seen
        });
        Self { reach: reach.collect() }
    }

    /// Returns whether two modules are in one cycle.
    pub fn share_cycle(&self, one: usize, other: usize) -> bool {
        self.reach[one][other] && self.reach[other][one]
    }

    /// Returns whether a module imports itself, directly or through others.
    pub fn is_in_cycle(&self, module: usize) -> bool {
        self.reach[module][module]
    }
}
