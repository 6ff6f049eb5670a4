//! Graphs: work that is remembered instead of run, and run as often as is wished.
//!
//! A graph's nodes run one after the other, each after those it comes after; a launch
//! is one piece of work on its stream. Which of two nodes that are not ordered runs
//! first depends on the schedule, as with streams.

use crate::environment::Schedule;
use crate::error::{Code, Result, invalid};
use crate::state::handle::Handle;
use crate::state::launch::Launch;
use crate::sync::locked;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// A piece of work that can be done again and again.
pub type Step = Arc<dyn Fn() -> Result + Send + Sync>;

/// What a node does.
#[derive(Clone)]
pub enum Work {
    /// A kernel, which programs ask back and change.
    Kernel(Launch),
    /// Anything else, with its `CUgraphNodeType`.
    Other(u32, Step),
}

/// `CUgraphNodeType` of the kinds of work there are.
pub mod kind {
    /// A kernel.
    pub const KERNEL: u32 = 0;
    /// A copy.
    pub const COPY: u32 = 1;
    /// A fill.
    pub const FILL: u32 = 2;
    /// A function of the program.
    pub const HOST: u32 = 3;
    /// Another graph.
    pub const GRAPH: u32 = 4;
    /// Nothing.
    pub const EMPTY: u32 = 5;
}

impl Work {
    /// Work that is a step of a kind.
    pub fn new(kind: u32, step: impl Fn() -> Result + Send + Sync + 'static) -> Work {
        Work::Other(kind, Arc::new(step))
    }

    /// The work's `CUgraphNodeType`.
    pub fn kind(&self) -> u32 {
        match self {
            Work::Kernel(_) => kind::KERNEL,
            Work::Other(kind, _) => *kind,
        }
    }

    /// Does it.
    pub fn run(&self) -> Result {
        match self {
            Work::Kernel(launch) => launch.run(),
            Work::Other(_, step) => step(),
        }
    }
}

/// A node of a graph.
#[derive(Clone)]
pub struct Node {
    /// The node's handle, which the program holds.
    pub handle: Handle,
    /// The nodes it comes after.
    pub after: Vec<Handle>,
    /// The node's work.
    pub work: Work,
}

/// A `CUgraph`.
pub struct Graph {
    /// The graph's handle, which the program holds.
    pub handle: Handle,
    nodes: Mutex<Vec<Node>>,
}

impl Graph {
    /// A graph of these nodes.
    pub fn new(nodes: Vec<Node>) -> Graph {
        Graph {
            handle: Handle::fresh(),
            nodes: Mutex::new(nodes),
        }
    }

    /// The nodes in the order they were added, with exclusive access.
    pub fn nodes(&self) -> MutexGuard<'_, Vec<Node>> {
        locked(&self.nodes)
    }

    /// Adds a node after others of the graph.
    pub fn add(&self, after: Vec<Handle>, work: Work) -> Result<Handle> {
        let mut nodes = self.nodes();
        let known = |handle: &Handle| nodes.iter().any(|node| node.handle == *handle);
        if !after.iter().all(known) {
            return Err(invalid(
                "a node that this one comes after is of another graph",
            ));
        }
        let handle = Handle::fresh();
        nodes.push(Node {
            handle,
            after,
            work,
        });
        Ok(handle)
    }

    /// Everything that must be done for these nodes to be done, themselves too.
    fn before(&self, among: &[Handle]) -> HashSet<Handle> {
        let nodes = self.nodes();
        let of: HashMap<Handle, &Node> = nodes.iter().map(|node| (node.handle, node)).collect();
        let mut reached: HashSet<Handle> = HashSet::new();
        let mut open = among.to_vec();
        while let Some(handle) = open.pop() {
            if reached.insert(handle)
                && let Some(node) = of.get(&handle)
            {
                open.extend(&node.after);
            }
        }
        reached
    }
}

/// The index of each node in a list.
fn positions(nodes: &[Node]) -> HashMap<Handle, usize> {
    nodes.iter().map(|node| node.handle).zip(0..).collect()
}

/// The nodes in an order in which each comes after those it must; an error where
/// there is none.
fn sorted(nodes: &[Node], schedule: Schedule) -> Result<Vec<Node>> {
    let position = positions(nodes);
    let mut missing: Vec<usize> = nodes.iter().map(|node| node.after.len()).collect();
    let mut followers: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    for (i, node) in nodes.iter().enumerate() {
        for after in &node.after {
            let lost = || invalid("a node comes after one that is not in the graph");
            followers[*position.get(after).ok_or_else(lost)?].push(i);
        }
    }
    let mut ready: BTreeSet<usize> = (0..nodes.len()).filter(|&i| missing[i] == 0).collect();
    let mut order = Vec::with_capacity(nodes.len());
    loop {
        let next = match schedule {
            Schedule::Submission => ready.pop_first(),
            Schedule::Adversarial => ready.pop_last(),
        };
        let Some(next) = next else { break };
        order.push(nodes[next].clone());
        for &follower in &followers[next] {
            missing[follower] -= 1;
            if missing[follower] == 0 {
                ready.insert(follower);
            }
        }
    }
    // What is left goes round in a circle.
    if order.len() < nodes.len() {
        return Err(invalid("the graph's edges go round in a circle"));
    }
    Ok(order)
}

/// A `CUgraphExec`: a graph as it was when it was made ready.
pub struct Executable {
    /// The executable graph's handle, which the program holds.
    pub handle: Handle,
    /// The flags it was made with.
    pub flags: u64,
    nodes: Mutex<Vec<Node>>,
}

impl Executable {
    /// Makes a graph ready.
    pub fn new(graph: &Graph, flags: u64, schedule: Schedule) -> Result<Executable> {
        let nodes = sorted(&graph.nodes(), schedule)?;
        Ok(Executable {
            handle: Handle::fresh(),
            flags,
            nodes: Mutex::new(nodes),
        })
    }

    /// The work of a launch: that of the nodes as they are now.
    pub fn work(&self) -> Work {
        let nodes = locked(&self.nodes).clone();
        Work::new(kind::GRAPH, move || {
            nodes.iter().try_for_each(|node| node.work.run())
        })
    }

    /// Changes a node that is a kernel.
    pub fn set_kernel(&self, node: Handle, launch: Launch) -> Result {
        let mut nodes = locked(&self.nodes);
        let mut all = nodes.iter_mut();
        let found = all.find(|known| known.handle == node);
        match found.map(|node| &mut node.work) {
            Some(Work::Kernel(known)) => {
                *known = launch;
                Ok(())
            }
            _ => Err(node.is_no(Code::INVALID_VALUE, "kernel among the nodes")),
        }
    }

    /// Takes over what the nodes of a graph of the same shape do; the node that
    /// differs otherwise.
    pub fn update(&self, graph: &Graph, schedule: Schedule) -> Result<(), Handle> {
        let mut nodes = locked(&self.nodes);
        let new = sorted(&graph.nodes(), schedule).map_err(|_| Handle::NULL)?;
        // Of each node its kind, and the positions of the nodes that it comes after.
        let shape = |nodes: &[Node]| -> Vec<(u32, Vec<usize>)> {
            let position = positions(nodes);
            let after = |node: &Node| node.after.iter().map(|a| position[a]).collect();
            nodes
                .iter()
                .map(|node| (node.work.kind(), after(node)))
                .collect()
        };
        let (mine, theirs) = (shape(&nodes), shape(&new));
        if mine.len() != theirs.len() {
            return Err(Handle::NULL);
        }
        if let Some(i) = (0..mine.len()).find(|&i| mine[i] != theirs[i]) {
            return Err(new[i].handle);
        }
        for (node, other) in nodes.iter_mut().zip(new) {
            node.work = other.work;
        }
        Ok(())
    }
}

/// A capture under way: what is put on its streams becomes a graph.
pub struct Capture {
    /// The graph so far.
    pub graph: Arc<Graph>,
    /// Never the same for two captures of a process.
    pub id: u64,
    /// The stream it began in.
    pub origin: Handle,
    /// For each stream, the nodes that its next one comes after.
    lanes: Mutex<HashMap<Handle, Vec<Handle>>>,
    invalid: AtomicBool,
    over: AtomicBool,
}

impl Capture {
    /// A capture that begins in a stream.
    pub fn new(origin: Handle) -> Capture {
        let graph = Arc::new(Graph::new(Vec::new()));
        Capture {
            id: graph.handle.0 as u64,
            graph,
            origin,
            lanes: Mutex::new(HashMap::from([(origin, Vec::new())])),
            invalid: AtomicBool::new(false),
            over: AtomicBool::new(false),
        }
    }

    /// Whether the capture is still good.
    pub fn state(&self) -> Result {
        if self.invalid.load(Ordering::Acquire) {
            let why = "an earlier call spoilt the capture";
            return Err(Code::STREAM_CAPTURE_INVALIDATED.because(why));
        }
        Ok(())
    }

    /// Spoils it: only its end is allowed now.
    pub fn invalidate(&self) {
        self.invalid.store(true, Ordering::Release);
    }

    /// Ends it: events that were recorded in it stand for nothing any more.
    pub fn end(&self) {
        self.over.store(true, Ordering::Release);
    }

    /// Whether the capture has ended.
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    /// The streams that take part, and what the next node of each comes after.
    pub fn lanes(&self) -> MutexGuard<'_, HashMap<Handle, Vec<Handle>>> {
        locked(&self.lanes)
    }

    /// Adds work at the end of a stream.
    pub fn add(&self, stream: Handle, work: Work) -> Result<Handle> {
        self.state()?;
        let mut lanes = self.lanes();
        let lane = lanes.entry(stream).or_default();
        let node = self.graph.add(lane.clone(), work)?;
        *lane = vec![node];
        Ok(node)
    }

    /// Whether everything on other streams comes before the end of the first one.
    pub fn is_joined(&self) -> bool {
        let lanes = self.lanes();
        let origin = lanes.get(&self.origin).map_or(&[][..], Vec::as_slice);
        let before = self.graph.before(origin);
        lanes.values().flatten().all(|node| before.contains(node))
    }
}
