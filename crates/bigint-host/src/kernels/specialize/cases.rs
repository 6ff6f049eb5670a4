//! The cases of a kernel that occur, cut out of its PTX.
//!
//! A kernel has a case for each number of registers, say, and a branch on what is known
//! of its launches ([`bigint_core::specialization`]). The driver's compiler drops the cases that do not
//! occur, but only after it has read and numbered them all, which is half of its time for a
//! power. What is left here is what control comes to from the kernel's beginning, where
//! branches on what is known go one way.
//!
//! A register is known that one instruction sets, from what is known, and so is a name of a
//! scope `{ }`, as that is passed from its beginning to its end. Nothing but branches is
//! changed; what is not understood is taken for unknown.

use std::collections::HashMap;

/// The text of one kernel without the cases that do not occur.
pub(super) fn occurring(kernel: &str) -> String {
    let lines: Vec<&str> = kernel.lines().collect();
    let begin = lines.iter().position(|line| *line == "{");
    let end = lines.iter().rposition(|line| *line == "}");
    let (Some(begin), Some(end)) = (begin, end) else {
        return kernel.to_owned();
    };
    let (head, tail) = (&lines[..=begin], &lines[end..]);
    let lines = &lines[begin + 1..end];
    let known = known(lines);
    let labels: HashMap<&str, usize> = (lines.iter().enumerate())
        .filter_map(|(at, line)| Some((line.strip_suffix(':')?, at)))
        .collect();

    let mut reached: Vec<Option<Next<'_>>> = vec![None; lines.len()];
    let mut from = vec![0];
    while let Some(mut at) = from.pop() {
        while at < lines.len() && reached[at].is_none() {
            let next = next(&lines[at..], &known);
            reached[at] = Some(next);
            let to = match next {
                Next::To(label) | Next::Perhaps(label) => vec![label],
                Next::OneOf(table) => targets(&lines[at..at + table]).collect(),
                Next::On | Next::Past | Next::End => Vec::new(),
            };
            let places = to.iter().map(|label| match label.starts_with('$') {
                true => labels.get(label).copied(),
                false => in_scope(lines, at, label),
            });
            from.extend(places.flatten());
            match next {
                Next::On | Next::Past | Next::Perhaps(_) => at += 1,
                Next::To(_) | Next::OneOf(_) | Next::End => break,
            }
        }
    }

    let mut text = String::with_capacity(kernel.len());
    let mut write = |line: &str| {
        text.push_str(line);
        text.push('\n');
    };
    head.iter().for_each(|line| write(line));
    for (at, next) in reached.into_iter().enumerate() {
        match next {
            None | Some(Next::Past) => {}
            Some(Next::To(label)) => write(&format!("bra.uni {label};")),
            Some(Next::OneOf(table)) => lines[at..at + table].iter().for_each(|line| write(line)),
            Some(Next::On | Next::Perhaps(_) | Next::End) => write(lines[at]),
        }
    }
    tail.iter().for_each(|line| write(line));
    text
}

/// The line of a label that the scope around line `at` has for itself: others may have labels of the same name.
fn in_scope(lines: &[&str], at: usize, label: &str) -> Option<usize> {
    let begin = lines[..at].iter().rposition(|line| *line == "{")?;
    let scope = lines[begin..].iter().take_while(|line| **line != "}");
    let found = scope
        .enumerate()
        .find(|(_, line)| line.strip_suffix(':') == Some(label));
    found.map(|(place, _)| begin + place)
}

/// The line at which control goes on after a line.
#[derive(Clone, Copy)]
enum Next<'a> {
    /// To the next one.
    On,
    /// To the next one, as the line is a branch that is never taken.
    Past,
    /// To a label.
    To(&'a str),
    /// To a label or to the next one.
    Perhaps(&'a str),
    /// To one of the labels of a table, which takes so many lines, with the branch.
    OneOf(usize),
    /// Nowhere.
    End,
}

/// Says where control goes on after the first of these lines.
fn next<'a>(lines: &[&'a str], known: &HashMap<&str, u32>) -> Next<'a> {
    let line = lines[0];
    if let Some(label) = line.strip_prefix("bra.uni ") {
        return Next::To(label.trim_end_matches(';'));
    }
    if line.ends_with(".branchtargets") {
        // The branch stands behind its table.
        let Some(end) = lines.iter().position(|line| line.starts_with("brx.idx ")) else {
            return Next::On;
        };
        let index = lines[end]["brx.idx ".len()..].split(',').next();
        let index = index.and_then(|index| known.get(index));
        let target = index.and_then(|&index| targets(&lines[..end]).nth(index as usize));
        return target.map_or(Next::OneOf(end + 1), Next::To);
    }
    if matches!(line, "ret;" | "exit;") {
        return Next::End;
    }
    let branch = line
        .strip_prefix('@')
        .and_then(|line| line.split_once(" bra "));
    let Some((guard, label)) = branch else {
        return Next::On;
    };
    let label = label.trim_end_matches(';');
    let (wanted, predicate) = match guard.strip_prefix('!') {
        Some(predicate) => (0, predicate),
        None => (1, guard),
    };
    match known.get(predicate) {
        None => Next::Perhaps(label),
        Some(value) if *value == wanted => Next::To(label),
        Some(_) => Next::Past,
    }
}

/// The labels of a table of branches.
fn targets<'a>(table: &[&'a str]) -> impl Iterator<Item = &'a str> {
    let labels = table
        .iter()
        .skip(1)
        .take_while(|line| line.starts_with('$'));
    labels.map(|line| line.trim_end_matches([',', ';']))
}

/// The registers of a kernel that are known.
fn known<'a>(lines: &[&'a str]) -> HashMap<&'a str, u32> {
    let mut times_set: HashMap<&str, u32> = HashMap::new();
    for register in lines.iter().flat_map(|line| set_by(line)) {
        *times_set.entry(register).or_default() += 1;
    }
    let mut known: HashMap<&str, u32> = HashMap::new();
    for line in lines {
        if *line == "}" {
            // Another block may have registers of these names, of which it sets two at a time.
            known.retain(|register, _| is_of_compiler(register));
        }
        let Some((operation, operands)) = unguarded(line).split_once(' ') else {
            continue;
        };
        let Some((register, from)) = operands.trim_end_matches(';').split_once(',') else {
            continue;
        };
        let is_local = !is_of_compiler(register);
        let is_set_once = is_local || times_set.get(register) == Some(&1);
        let result = match is_set_once && !line.starts_with('@') {
            true => result(operation, from, &known),
            false => None,
        };
        if is_local {
            known.remove(register);
        }
        known.extend(Some(register).zip(result));
    }
    known
}

/// An instruction without what it may depend on.
fn unguarded(line: &str) -> &str {
    let guarded = line.strip_prefix('@').and_then(|line| line.split_once(' '));
    guarded.map_or(line, |(_, instruction)| instruction)
}

/// The registers that a line sets, or perhaps sets.
fn set_by(line: &str) -> impl Iterator<Item = &str> {
    let operands = match unguarded(line).split_once(' ') {
        Some((operation, operands)) if operation != "brx.idx" => operands,
        _ => "",
    };
    let end = match line.starts_with('{') {
        // Several instructions.
        true => None,
        false if operands.starts_with('{') => operands.find('}'),
        false => operands.find(','),
    };
    let is_separator = |c: char| !c.is_ascii_alphanumeric();
    let set = operands[..end.unwrap_or(operands.len())].split(is_separator);
    set.filter(|register| is_of_compiler(register))
}

/// Whether a register is the compiler's: they are numbered, and a block's own are not.
fn is_of_compiler(register: &str) -> bool {
    register.ends_with(|last: char| last.is_ascii_digit())
}

/// The result of an instruction, if the operands that decide it are known.
fn result(operation: &str, operands: &str, known: &HashMap<&str, u32>) -> Option<u32> {
    let (name, ty) = operation.rsplit_once('.')?;
    let bits = match ty {
        "b32" | "u32" | "s32" => u32::MAX,
        "b16" | "u16" => u32::from(u16::MAX),
        "pred" => 1,
        _ => return None,
    };
    let operands: Vec<&str> = operands.split(',').collect();
    let of = |i: usize| {
        let operand: &str = operands.get(i)?;
        let constant = || operand.parse().ok().map(|value: i64| value as u32);
        known
            .get(operand)
            .copied()
            .or_else(constant)
            .map(|value| value & bits)
    };
    let is = |holds: fn(&u32, &u32) -> bool| Some(u32::from(holds(&of(0)?, &of(1)?)));
    let value = match (name, ty) {
        ("mov", _) => of(0)?,
        ("add", _) => of(0)?.wrapping_add(of(1)?),
        ("not", _) => !of(0)?,
        ("and", _) => of(0)? & of(1)?,
        ("or", _) => of(0)? | of(1)?,
        ("shl", _) => of(0)?.checked_shl(of(1)?).unwrap_or(0),
        ("bfe", "u32") => of(0)?.checked_shr(of(1)?)? & 1_u32.checked_shl(of(2)?)?.wrapping_sub(1),
        ("selp", _) if of(2)? == 0 => of(1)?,
        ("selp", _) => of(0)?,
        ("setp.eq", _) => is(u32::eq)?,
        ("setp.ne", _) => is(u32::ne)?,
        ("setp.lt", "u32") => is(u32::lt)?,
        ("setp.le", "u32") => is(u32::le)?,
        ("setp.gt", "u32") => is(u32::gt)?,
        ("setp.ge", "u32") => is(u32::ge)?,
        _ => return None,
    };
    Some(value & bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel with this body, and what is left of the body.
    fn left(body: &str) -> String {
        let text = occurring(&format!("k(\n.param .u64 p\n)\n{{\n{body}\n}}\n"));
        let body = text
            .split_once("\n{\n")
            .and_then(|(_, body)| body.rsplit_once("\n}"));
        body.map_or("", |(body, _)| body).to_owned()
    }

    #[test]
    fn branches_on_what_is_known_go_one_way_and_the_others_stay() {
        let known = ".reg .b32 r<9>;\nmov.b32 r1,4;\nmov.b32 r2,3;\nld.param.u32 r4,[p];\n{\n\
            .reg .b32 fact;\n.reg .pred is_known;\nmov.b32 fact,32;\nbfe.u32 fact,fact,r1,r2;\n\
            setp.ne.u32 is_known,fact,0;\nselp.b32 r3,fact,r4,is_known;\n}";
        let rest = "setp.eq.b32 p1,r3,2;\n@p1 bra $two;\nst.global.u32 [rd1],r1;\nret;\n\
            $two:\nsetp.eq.b32 p2,r4,2;\n@p2 bra $end;\nst.global.u32 [rd1],r2;\n$end:\nret;";
        let cut = left(&format!("{known}\n{rest}"));
        let (_, after) = cut.split_once("setp.eq.b32 p1,r3,2;\n").unwrap();
        assert_eq!(
            after,
            "bra.uni $two;\n$two:\nsetp.eq.b32 p2,r4,2;\n@p2 bra $end;\n\
             st.global.u32 [rd1],r2;\n$end:\nret;"
        );
        // Nothing is known.
        let unknown = format!("{}\n{rest}", known.replace("fact,32", "fact,0"));
        assert_eq!(left(&unknown), unknown);
    }

    #[test]
    fn predicates_of_known_predicates_are_known() {
        for (made, is_taken) in [
            ("and.pred p3,p1,p2;", false),
            ("or.pred p3,p1,p2;", true),
            ("not.pred p3,p1;", false),
        ] {
            let predicates = "setp.eq.b32 p1,r1,1;\nsetp.eq.b32 p2,r1,2;";
            let cut = left(&format!(
                "mov.b32 r1,1;\n{predicates}\n{made}\n@p3 bra $a;\nexit;\n$a:\nret;"
            ));
            assert_eq!(cut.contains("ret"), is_taken, "{made}");
            assert_eq!(cut.contains("exit"), !is_taken, "{made}");
        }
    }

    #[test]
    fn a_table_of_branches_is_kept_with_its_cases_or_becomes_one_branch() {
        let table = "$t: .branchtargets\n$a,\n$b;\nbrx.idx r1,$t;\n$a:\nret;\n$b:\nexit;";
        let known = left(&format!("mov.b32 r1,1;\n{table}"));
        assert_eq!(known, "mov.b32 r1,1;\nbra.uni $b;\n$b:\nexit;");
        let unknown = format!("ld.shared.u32 r1,[rd1];\n{table}");
        assert_eq!(left(&unknown), unknown);
    }

    #[test]
    fn labels_of_a_scope_are_its_own() {
        let scope = "{\n.reg .pred a;\nagain:\nsetp.ne.u32 a,r2,0;\n@!a bra again;\n}";
        let kernel = format!(
            "mov.b32 r1,1;\n{scope}\nsetp.eq.b32 p1,r1,1;\n@p1 bra $end;\n{scope}\n$end:\nret;"
        );
        let cut = left(&kernel);
        assert_eq!(cut.matches("again:").count(), 1);
        assert_eq!(cut.matches('}').count(), 1);
        assert!(cut.ends_with("setp.eq.b32 p1,r1,1;\nbra.uni $end;\n$end:\nret;"));
    }

    #[test]
    fn a_register_that_is_set_twice_or_perhaps_is_unknown() {
        let branch = "setp.eq.b32 p1,r1,1;\n@!p1 bra $a;\nexit;\n$a:\nret;";
        for also in [
            "@p2 mov.b32 r1,2;",
            "@inside ld.shared.u32 r1,[rd1];",
            "{ .reg .b32 t; mov.b64 {t,r1},rd1; }",
            "ld.shared.v2.u32 {r2,r1},[rd1];",
            "add.s32 r1,r1,1;",
        ] {
            let body = format!("mov.b32 r1,1;\n{also}\n{branch}");
            assert_eq!(left(&body), body);
        }
        let body = format!("mov.b32 r1,1;\nadd.s32 r2,r1,1;\n{branch}");
        assert!(!left(&body).contains("ret"));
    }

    #[test]
    fn what_a_block_has_for_itself_is_nothing_to_the_next() {
        let body = "mov.b32 r1,1;\n{\n.reg .b32 a;\nmov.b32 a,1;\n}\n{\n.reg .b32 a,b;\n\
            mov.b64 {a,b},d1;\nadd.s32 r2,a,r1;\n}\nsetp.eq.b32 p1,r2,2;\n@p1 bra $a;\nexit;\n\
            $a:\nret;";
        assert_eq!(left(body), body);
    }
}
