//! Basic blocks, and the order in which parts of a warp are run.
//!
//! When the lanes of a warp part at a branch, the part in the lowest block runs
//! first, and parts that reach the same block become one. The order of blocks
//! decides where lanes meet again: here a weak topological order (Bourdoncle).
//! Every edge that does not lead back into a loop leads forward, and a loop's
//! blocks stand together, so lanes that leave a loop wait behind it until the
//! last has left, and both sides of a condition end before what follows it.

use crate::ir::{Block, Inst, Op};

/// Cuts a function into blocks. Branches come with labels, whose places
/// `labels` gives, and leave with blocks.
pub(super) fn blocks(mut insts: Vec<Inst>, labels: &[usize]) -> (Vec<Inst>, Vec<Block>) {
    let raw = cut(&insts, labels);
    let mut block_of = vec![0; insts.len() + 1];
    for (i, block) in raw.iter().enumerate() {
        block_of[block.start as usize..block.end as usize].fill(i);
    }
    let target = |label: u32| block_of[labels[label as usize]];
    let graph: Vec<Vec<usize>> = raw
        .iter()
        .enumerate()
        .map(|(i, block)| {
            let last = &insts[block.end as usize - 1];
            let mut next = Vec::new();
            let falls_through =
                !last.op.ends_block() || last.guard.is_some() || matches!(last.op, Op::Call(_));
            if falls_through && i + 1 < raw.len() {
                next.push(i + 1);
            }
            match &last.op {
                Op::Branch(label) => next.push(target(*label)),
                Op::BranchTable(_, table) => next.extend(table.iter().map(|&l| target(l))),
                _ => {}
            }
            next
        })
        .collect();
    let order = arrange(&graph);
    let mut rank = vec![u32::MAX; raw.len()];
    for (new, &old) in order.iter().enumerate() {
        rank[old] = new as u32;
    }
    for inst in &mut insts {
        match &mut inst.op {
            Op::Branch(label) => *label = rank[target(*label)],
            Op::BranchTable(_, table) => {
                for label in table.iter_mut() {
                    *label = rank[target(*label)];
                }
            }
            _ => {}
        }
    }
    let blocks = order
        .iter()
        .map(|&old| Block {
            next: rank.get(old + 1).copied().unwrap_or(u32::MAX),
            ..raw[old].clone()
        })
        .collect();
    (insts, blocks)
}

fn cut(insts: &[Inst], labels: &[usize]) -> Vec<Block> {
    let mut leader = vec![false; insts.len() + 1];
    leader[0] = true;
    leader[insts.len()] = true;
    for &label in labels {
        leader[label] = true;
    }
    for (i, inst) in insts.iter().enumerate() {
        leader[i] |= inst.op.is_meeting();
        leader[i + 1] |= inst.op.ends_block();
    }
    let starts: Vec<usize> = (0..=insts.len()).filter(|&i| leader[i]).collect();
    starts
        .windows(2)
        .map(|pair| Block {
            start: pair[0] as u32,
            end: pair[1] as u32,
            next: u32::MAX,
            live: Box::default(),
        })
        .collect()
}

/// The reachable nodes in weak topological order, node 0 first.
fn arrange(graph: &[Vec<usize>]) -> Vec<usize> {
    let mut reachable = vec![false; graph.len()];
    let mut open = vec![0];
    reachable[0] = true;
    while let Some(node) = open.pop() {
        for &next in &graph[node] {
            if !reachable[next] {
                reachable[next] = true;
                open.push(next);
            }
        }
    }
    let members: Vec<usize> = (0..graph.len()).filter(|&i| reachable[i]).collect();
    let mut order = Vec::with_capacity(members.len());
    let mut inside = vec![0; graph.len()];
    let mut token = 0;
    components_in_order(graph, &members, &mut inside, &mut token, &mut order);
    order
}

/// Appends `members` in order: strongly connected components topologically, of
/// each its head first and then the rest, arranged in the same way.
fn components_in_order(
    graph: &[Vec<usize>],
    members: &[usize],
    inside: &mut [u32],
    token: &mut u32,
    order: &mut Vec<usize>,
) {
    *token += 1;
    for &member in members {
        inside[member] = *token;
    }
    for component in components(graph, members, inside, *token) {
        order.push(component[0]);
        if component.len() > 1 {
            let mut rest = component[1..].to_vec();
            rest.sort_unstable();
            components_in_order(graph, &rest, inside, token, order);
        }
    }
}

/// Tarjan's algorithm without recursion: the components in topological order,
/// each with the node first that was reached first.
fn components(
    graph: &[Vec<usize>],
    members: &[usize],
    inside: &[u32],
    token: u32,
) -> Vec<Vec<usize>> {
    const NEW: u32 = u32::MAX;
    let mut index = vec![NEW; graph.len()];
    let mut low = vec![0; graph.len()];
    let mut on_stack = vec![false; graph.len()];
    let mut stack = Vec::new();
    let mut found = Vec::new();
    let mut clock = 0;
    for &root in members {
        if index[root] != NEW {
            continue;
        }
        let mut path = vec![(root, 0)];
        while let Some(&mut (node, ref mut edge)) = path.last_mut() {
            if *edge == 0 {
                index[node] = clock;
                low[node] = clock;
                clock += 1;
                stack.push(node);
                on_stack[node] = true;
            }
            let next = graph[node][*edge..]
                .iter()
                .position(|&next| inside[next] == token)
                .map(|skip| *edge + skip);
            match next {
                Some(at) => {
                    *edge = at + 1;
                    let next = graph[node][at];
                    if index[next] == NEW {
                        path.push((next, 0));
                    } else if on_stack[next] {
                        low[node] = low[node].min(index[next]);
                    }
                }
                None => {
                    path.pop();
                    if let Some(&(parent, _)) = path.last() {
                        low[parent] = low[parent].min(low[node]);
                    }
                    if low[node] == index[node] {
                        let first = stack.iter().rposition(|&n| n == node).unwrap_or(0);
                        let component = stack.split_off(first);
                        for &member in &component {
                            on_stack[member] = false;
                        }
                        found.push(component);
                    }
                }
            }
        }
    }
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_come_after_both_sides() {
        // 0 -> 1, 2; 1 -> 3; 2 -> 3, laid out with the join in the middle.
        let graph = [vec![2, 3], vec![], vec![1], vec![1]];
        let order = arrange(&graph);
        assert_eq!(order[0], 0);
        assert_eq!(order[3], 1);
    }

    #[test]
    fn what_follows_a_loop_comes_after_all_of_it() {
        // Head 1 leaves to 2 or goes on to 3, which goes back.
        let graph = [vec![1], vec![2, 3], vec![], vec![1]];
        assert_eq!(arrange(&graph), [0, 1, 3, 2]);
        let graph = [vec![1], vec![3, 2], vec![], vec![1]];
        assert_eq!(arrange(&graph), [0, 1, 3, 2]);
    }

    #[test]
    fn nested_loops_stand_together() {
        // 1 { 2 { 3 } 4 } 5, each loop closed by its last block.
        let graph = [vec![1], vec![2, 5], vec![3, 4], vec![2], vec![1], vec![]];
        assert_eq!(arrange(&graph), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn unreachable_blocks_are_dropped() {
        let graph = [vec![2], vec![2], vec![]];
        assert_eq!(arrange(&graph), [0, 2]);
    }

    #[test]
    fn a_loop_of_ten_thousand_blocks_is_no_recursion() {
        let n = 10_000;
        let graph: Vec<Vec<usize>> = (0..n).map(|i| vec![(i + 1) % n]).collect();
        assert_eq!(arrange(&graph).len(), n);
    }
}
