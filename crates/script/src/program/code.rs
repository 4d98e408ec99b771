//! Scenarios as flat code: trees of nodes become operations with jumps, once, before the load.
//!
//! What runs at the same time (branches, what stands beside a stream) is a strand with a number of its own, and every
//! loop and group has a slot for its count or its begin; both are dealt out here, so that a user needs no stack.

use super::pick::Picker;
use crate::answer::CompiledCondition;
use plimsoll_plan::script::{Condition, Delay, Node, Order, Script, Slot};
use plimsoll_plan::value::Text;

/// Index of an operation.
pub type Pc = u32;
/// Number of a strand of a user; 0 is the one that an iteration begins with.
pub type StrandId = u16;
/// Index of a number that a user keeps.
pub type SlotId = u16;

/// One operation; `u32` without further words are indices into the tables of [`Code`].
#[derive(Debug, Clone, Copy)]
pub enum Op {
    Ask(u32),
    /// Opens a stream; what stands beside it begins when its head has come. Both are joined by `slot`.
    Stream {
        ask: u32,
        beside: Option<(StrandId, Pc)>,
        slot: SlotId,
    },
    Think(Delay),
    GroupBegin {
        slot: SlotId,
    },
    GroupEnd {
        group: u16,
        slot: SlotId,
    },
    /// Reads how many rounds there are.
    Repeat {
        times: u32,
        slot: SlotId,
        exit: Pc,
    },
    /// One round less.
    Again {
        slot: SlotId,
        body: Pc,
    },
    Zero {
        slot: SlotId,
    },
    While {
        asked: u32,
        most: u32,
        slot: SlotId,
        exit: Pc,
    },
    Unless {
        asked: u32,
        to: Pc,
    },
    Jump(Pc),
    /// Jumps when this user has come through here before.
    Once {
        /// Its number, below 64.
        mark: u8,
        to: Pc,
    },
    /// This user has come through.
    OnceThrough {
        mark: u8,
    },
    Choose(u32),
    Set {
        slot: Slot,
        text: u32,
    },
    Append {
        file: u16,
        texts: u32,
        count: u16,
    },
    Fork {
        fork: u32,
        slot: SlotId,
    },
    /// A strand beside another is through; the last one wakes the strand that waits.
    Join {
        parent: StrandId,
        slot: SlotId,
    },
    /// The iteration's first strand is through.
    End,
}

/// All code of a script.
#[derive(Debug, Default)]
pub struct Code {
    pub ops: Vec<Op>,
    pub texts: Vec<Text>,
    pub asked: Vec<CompiledCondition>,
    pub choices: Vec<(Picker, Vec<Pc>)>,
    pub forks: Vec<Vec<(StrandId, Pc)>>,
    pub setup: Pc,
    pub teardown: Pc,
    pub scenarios: Vec<Pc>,
    /// Most slots in use at once, of any entry.
    pub slots: u16,
}

impl Code {
    /// # Errors
    /// A sentence on the first condition or weight that makes no sense. Indices must have been checked.
    pub fn compile(script: &Script) -> Result<Code, String> {
        let mut compiler = Compiler {
            script,
            code: Code::default(),
            strand: 0,
            strands: 1,
            slots: 0,
            most_strands: 1,
            most_slots: 0,
            onces: 0,
        };
        compiler.code.setup = compiler.entry(&script.setup)?;
        compiler.code.teardown = compiler.entry(&script.teardown)?;
        for scenario in &script.scenarios {
            let entry = compiler.entry(&scenario.nodes)?;
            compiler.code.scenarios.push(entry);
        }
        Ok(Code { slots: compiler.most_slots, ..compiler.code })
    }
}

struct Compiler<'a> {
    script: &'a Script,
    code: Code,
    /// The strand that the code being made belongs to.
    strand: StrandId,
    /// Strands and slots in use where the code being made stands.
    strands: u16,
    slots: u16,
    /// Most of them in use so far, counted from the begin of the branch that is being made.
    most_strands: u16,
    most_slots: u16,
    onces: u8,
}

/// Each user remembers which it has come through in the bits of one number.
const ONCES_MAX: u8 = 64;

impl Compiler<'_> {
    fn here(&self) -> Pc {
        self.code.ops.len() as Pc
    }

    fn push(&mut self, op: Op) -> Pc {
        self.code.ops.push(op);
        self.here() - 1
    }

    /// Sets the target of a jump that was written before its target was known.
    fn land(&mut self, jump: Pc) {
        let here = self.here();
        match &mut self.code.ops[jump as usize] {
            Op::Repeat { exit: to, .. }
            | Op::While { exit: to, .. }
            | Op::Unless { to, .. }
            | Op::Jump(to)
            | Op::Once { to, .. } => *to = here,
            _ => {}
        }
    }

    fn slot(&mut self) -> Result<SlotId, String> {
        let slot = self.slots;
        self.slots = slot.checked_add(1).ok_or("more than 65,535 loops and groups inside each other")?;
        self.most_slots = self.most_slots.max(self.slots);
        Ok(slot)
    }

    fn new_strand(&mut self) -> Result<StrandId, String> {
        let strand = self.strands;
        self.strands = strand.checked_add(1).ok_or("more than 65,535 branches at once")?;
        self.most_strands = self.most_strands.max(self.strands);
        Ok(strand)
    }

    fn text(&mut self, text: &Text) -> u32 {
        self.code.texts.push(text.clone());
        self.code.texts.len() as u32 - 1
    }

    fn compile_condition(&mut self, condition: &Condition) -> Result<u32, String> {
        self.code.asked.push(CompiledCondition::compile(condition)?);
        Ok(self.code.asked.len() as u32 - 1)
    }

    fn entry(&mut self, nodes: &[Node]) -> Result<Pc, String> {
        (self.strand, self.strands, self.slots) = (0, 1, 0);
        let entry = self.here();
        self.nodes(nodes)?;
        self.push(Op::End);
        Ok(entry)
    }

    fn nodes(&mut self, nodes: &[Node]) -> Result<(), String> {
        nodes.iter().try_for_each(|node| {
            // What a node has used is free again behind it: nothing of it is running any more.
            let (strands, slots) = (self.strands, self.slots);
            self.node(node)?;
            (self.strands, self.slots) = (strands, slots);
            Ok(())
        })
    }

    fn node(&mut self, node: &Node) -> Result<(), String> {
        match node {
            Node::Ask(ask) => self.ask(*ask)?,
            Node::Think(delay) => {
                self.push(Op::Think(*delay));
            }
            Node::Group { group, nodes } => {
                let slot = self.slot()?;
                self.push(Op::GroupBegin { slot });
                self.nodes(nodes)?;
                self.push(Op::GroupEnd { group: *group, slot });
            }
            Node::Repeat { times, nodes } => {
                let slot = self.slot()?;
                let times = self.text(times);
                let begin = self.push(Op::Repeat { times, slot, exit: 0 });
                self.nodes(nodes)?;
                self.push(Op::Again { slot, body: begin + 1 });
                self.land(begin);
            }
            Node::While { condition, most, nodes } => {
                let slot = self.slot()?;
                self.push(Op::Zero { slot });
                let asked = self.compile_condition(condition)?;
                let test = self.push(Op::While { asked, most: *most, slot, exit: 0 });
                self.nodes(nodes)?;
                self.push(Op::Jump(test));
                self.land(test);
            }
            Node::If { condition, then, otherwise } => {
                let asked = self.compile_condition(condition)?;
                let test = self.push(Op::Unless { asked, to: 0 });
                self.nodes(then)?;
                if otherwise.is_empty() {
                    self.land(test);
                } else {
                    let over = self.push(Op::Jump(0));
                    self.land(test);
                    self.nodes(otherwise)?;
                    self.land(over);
                }
            }
            Node::Once(nodes) => {
                let mark = self.onces;
                if mark >= ONCES_MAX {
                    return Err(format!("more than {ONCES_MAX} steps `once_per_user`"));
                }
                self.onces += 1;
                let test = self.push(Op::Once { mark, to: 0 });
                self.nodes(nodes)?;
                // Only behind them: a log-in that failed is tried again in the next iteration.
                self.push(Op::OnceThrough { mark });
                self.land(test);
            }
            Node::Choose { ways, order } => self.choose(ways, *order)?,
            Node::Set(values) => {
                for (slot, text) in values {
                    let text = self.text(text);
                    self.push(Op::Set { slot: *slot, text });
                }
            }
            Node::Append { file, columns } => {
                let texts = self.code.texts.len() as u32;
                self.code.texts.extend(columns.iter().cloned());
                self.push(Op::Append { file: *file, texts, count: columns.len() as u16 });
            }
            Node::Parallel(branches) => {
                let slot = self.slot()?;
                let fork = self.code.forks.len();
                self.code.forks.push(Vec::new());
                self.push(Op::Fork { fork: fork as u32, slot });
                let over = self.push(Op::Jump(0));
                let mut starts = Vec::new();
                for nodes in branches {
                    starts.push(self.branch(nodes, slot)?);
                }
                self.land(over);
                self.code.forks[fork] = starts;
            }
        }
        Ok(())
    }

    /// Code of a strand beside the one that is being made.
    fn branch(&mut self, nodes: &[Node], slot: SlotId) -> Result<(StrandId, Pc), String> {
        let parent = self.strand;
        let strand = self.new_strand()?;
        self.strand = strand;
        let start = self.here();
        let (most_strands, most_slots) = (self.most_strands, self.most_slots);
        (self.most_strands, self.most_slots) = (self.strands, self.slots);
        self.nodes(nodes)?;
        // Branches run at the same time: what this one has used anywhere, the next one may not.
        (self.strands, self.slots) = (self.most_strands, self.most_slots);
        self.most_strands = self.most_strands.max(most_strands);
        self.most_slots = self.most_slots.max(most_slots);
        self.push(Op::Join { parent, slot });
        self.strand = parent;
        Ok((strand, start))
    }

    fn ask(&mut self, ask: u32) -> Result<(), String> {
        let script = self.script;
        let Some(stream) = &script.asks[ask as usize].stream else {
            self.push(Op::Ask(ask));
            return Ok(());
        };
        let slot = self.slot()?;
        let open = self.push(Op::Stream { ask, beside: None, slot });
        if !stream.beside.is_empty() {
            let over = self.push(Op::Jump(0));
            let start = self.branch(&stream.beside, slot)?;
            self.land(over);
            self.code.ops[open as usize] = Op::Stream { ask, beside: Some(start), slot };
        }
        Ok(())
    }

    fn choose(&mut self, ways: &[(f64, Vec<Node>)], order: Order) -> Result<(), String> {
        let weights: Vec<f64> = ways.iter().map(|(weight, _)| *weight).collect();
        let choice = self.code.choices.len();
        self.code.choices.push((Picker::new(&weights, order)?, Vec::new()));
        self.push(Op::Choose(choice as u32));
        let (mut starts, mut overs) = (Vec::new(), Vec::new());
        for (_, nodes) in ways {
            starts.push(self.here());
            self.nodes(nodes)?;
            overs.push(self.push(Op::Jump(0)));
        }
        for over in overs {
            self.land(over);
        }
        self.code.choices[choice].1 = starts;
        Ok(())
    }
}
