//! Compiles scenarios to flat code before the load: trees of nodes become operations with jumps.
//!
//! Parallel steps (branches, and steps during a stream) are strands with numbers. Every loop and group has a slot for
//! its count or its start time. Both are assigned here, so that a user needs no stack.

use super::pick::Picker;
use crate::answer::CompiledCondition;
use plimsoll_plan::script::{Condition, Delay, Node, Order, Script, Slot};
use plimsoll_plan::value::Text;
use plimsoll_plan::websocket::Content;

/// Index of an operation.
pub type Pc = u32;
/// Number of a strand of a user; 0 is the first strand of an iteration.
pub type StrandId = u16;
/// Index of a number that a user stores.
pub type SlotId = u16;

/// One operation. `u32` values without a comment are indexes into the tables of [`Code`].
#[derive(Debug, Clone, Copy)]
pub enum Op {
    Ask(u32),
    /// Opens a stream. Its parallel steps begin when the head has been received. `slot` joins both.
    Stream {
        ask: u32,
        beside: Option<(StrandId, Pc)>,
        slot: SlotId,
    },
    /// Opens a WebSocket. If the step is awaited, its parallel steps begin then, and `slot` joins both. Those of a gRPC
    /// call begin with it, because its server may respond only to messages.
    Connect {
        ask: u32,
        beside: Option<(StrandId, Pc)>,
        slot: SlotId,
    },
    /// Sends a message over the WebSocket of a request.
    Send {
        ask: u32,
        content: Content,
        text: u32,
    },
    /// Waits for a message.
    Expect {
        ask: u32,
        expectation: u16,
    },
    /// Sends a ping, and waits for its pong.
    Ping {
        ask: u32,
        text: u32,
        expectation: u16,
    },
    /// Closes a WebSocket.
    Close {
        ask: u32,
        code: u16,
        reason: u32,
    },
    /// Sends one of the later messages of a gRPC call.
    SendMessage {
        ask: u32,
        message: u32,
    },
    /// Sends no more messages of a gRPC call.
    Complete {
        ask: u32,
    },
    Think(Delay),
    GroupBegin {
        slot: SlotId,
    },
    GroupEnd {
        group: u16,
        slot: SlotId,
    },
    /// Reads the number of iterations.
    Repeat {
        times: u32,
        slot: SlotId,
        exit: Pc,
    },
    /// Decrements the number of iterations.
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
    /// Jumps if this user has completed these steps before.
    Once {
        /// The number of the step, below 64.
        mark: u8,
        to: Pc,
    },
    /// Marks the steps as completed by this user.
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
    /// Ends a parallel strand. The last one resumes the waiting strand.
    Join {
        parent: StrandId,
        slot: SlotId,
    },
    /// Ends the first strand of the iteration.
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
    /// Maximum number of slots in use at once, over all entries.
    pub slots: u16,
}

impl Code {
    /// Compiles a script. Its indexes must have been validated.
    ///
    /// # Errors
    /// Returns an error for the first invalid condition or weight.
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
    /// The strand of the current code.
    strand: StrandId,
    /// Strands and slots in use at the current place.
    strands: u16,
    slots: u16,
    /// Maximum numbers in use so far, since the beginning of the current branch.
    most_strands: u16,
    most_slots: u16,
    onces: u8,
}

/// Maximum number of `once_per_user` steps: each user stores their completion as bits of one number.
const ONCES_MAX: u8 = 64;

impl Compiler<'_> {
    fn here(&self) -> Pc {
        self.code.ops.len() as Pc
    }

    fn push(&mut self, op: Op) -> Pc {
        self.code.ops.push(op);
        self.here() - 1
    }

    /// Sets the target of an earlier jump to the current place.
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
        self.slots = slot.checked_add(1).ok_or("more than 65,535 nested loops and groups")?;
        self.most_slots = self.most_slots.max(self.slots);
        Ok(slot)
    }

    fn new_strand(&mut self) -> Result<StrandId, String> {
        let strand = self.strands;
        self.strands = strand.checked_add(1).ok_or("more than 65,535 parallel branches")?;
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
            // Strands and slots of a node are free after it, because nothing in it is running.
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
                    return Err(format!("more than {ONCES_MAX} `once_per_user` steps"));
                }
                self.onces += 1;
                let test = self.push(Op::Once { mark, to: 0 });
                self.nodes(nodes)?;
                // Only after the steps, so that the next iteration retries a failed login.
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
            Node::Send { socket, content, text } => {
                let text = self.text(text);
                self.push(Op::Send { ask: *socket, content: *content, text });
            }
            Node::Expect { socket, expectation } => {
                self.push(Op::Expect { ask: *socket, expectation: *expectation });
            }
            Node::Ping { socket, text, expectation } => {
                let text = self.text(text);
                self.push(Op::Ping { ask: *socket, text, expectation: *expectation });
            }
            Node::Close { socket, code, reason } => {
                let reason = self.text(reason);
                self.push(Op::Close { ask: *socket, code: *code, reason });
            }
            Node::SendMessage { call, message } => {
                self.push(Op::SendMessage { ask: *call, message: *message });
            }
            Node::Complete { call } => {
                self.push(Op::Complete { ask: *call });
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

    /// Compiles a strand that runs in parallel with the current one.
    fn branch(&mut self, nodes: &[Node], slot: SlotId) -> Result<(StrandId, Pc), String> {
        let parent = self.strand;
        let strand = self.new_strand()?;
        self.strand = strand;
        let start = self.here();
        let (most_strands, most_slots) = (self.most_strands, self.most_slots);
        (self.most_strands, self.most_slots) = (self.strands, self.slots);
        self.nodes(nodes)?;
        // Branches run in parallel, so the next one must not use any slot or strand of this one.
        (self.strands, self.slots) = (self.most_strands, self.most_slots);
        self.most_strands = self.most_strands.max(most_strands);
        self.most_slots = self.most_slots.max(most_slots);
        self.push(Op::Join { parent, slot });
        self.strand = parent;
        Ok((strand, start))
    }

    fn ask(&mut self, ask: u32) -> Result<(), String> {
        let script = self.script;
        if let Some(socket) = &script.asks[ask as usize].websocket {
            let slot = self.slot()?;
            let open = self.push(Op::Connect { ask, beside: None, slot });
            if !socket.stream.beside.is_empty() {
                let over = self.push(Op::Jump(0));
                let start = self.branch(&socket.stream.beside, slot)?;
                self.land(over);
                self.code.ops[open as usize] = Op::Connect { ask, beside: Some(start), slot };
            }
            return Ok(());
        }
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
