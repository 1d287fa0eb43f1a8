//! The verdict on records and the words it comes in.

use proptest::prelude::*;

use super::*;

const LINE: Line = Line {
    first: 1,
    step: 2,
    len: 3,
};

fn call<'a>(operator: &'a str, dtype: DType, what: Collective<'a>) -> Call<'a> {
    Call {
        operator,
        what,
        dtype,
    }
}

fn gather<'a>(operator: &'a str, dtype: DType, counts: &'a [usize], place: usize) -> Record<'a> {
    let what = Collective::AllGather { counts };
    let total = counts.iter().sum();
    Record::of_call(
        4,
        LINE,
        place,
        &call(operator, dtype, what),
        counts[place],
        total,
    )
    .expect("a record")
}

fn reduce(operator: &str, by: Reduction, bytes: usize) -> Record<'_> {
    let what = Collective::AllReduce { by };
    Record::of_call(4, LINE, 0, &call(operator, DType::F32, what), bytes, bytes).expect("a record")
}

fn exchange<'a>(place: usize, send: &'a [usize], recv: &'a [usize]) -> Record<'a> {
    let what = Collective::AllToAll { send, recv };
    let (sent, received) = (send.iter().sum(), recv.iter().sum());
    let call = call("reshape", DType::I64, what);
    Record::of_call(0, LINE, place, &call, sent, received).expect("a record")
}

fn told(records: [&Record<'_>; 3]) -> String {
    check(LINE, &records)
        .expect_err("a disagreement")
        .to_string()
}

#[test]
fn calls_that_differ_name_both_ranks_and_both_calls() {
    let gathers: Vec<_> = (0..3)
        .map(|place| gather("take", DType::F32, &[4, 8, 0], place))
        .collect();
    assert!(check(LINE, &[&gathers[0], &gathers[1], &gathers[2]]).is_ok());
    let sum = reduce("sum", Reduction::Sum, 64);
    assert_eq!(
        told([&gathers[0], &gathers[1], &sum]),
        "rank 5 called all_reduce by sum of float32 (64 bytes) for `sum`, but rank 1 called all_gather of float32 \
         (4, 8, 0 bytes) for `take`\n  ranks: 1, 3, 5\n  help: all ranks must call the same things in the same \
         order; look for a branch that depends on the rank"
    );
    // The one that is alone comes first, also when it is the first of the line.
    let first_line = |text: String| text.lines().next().map(str::to_string).expect("a line");
    assert_eq!(
        first_line(told([&sum, &gathers[1], &gathers[2]])),
        "rank 1 called all_reduce by sum of float32 (64 bytes) for `sum`, but rank 3 called all_gather of float32 \
         (4, 8, 0 bytes) for `take`"
    );
    let wide = gather("take", DType::F64, &[4, 8, 0], 1);
    assert_eq!(
        first_line(told([&gathers[0], &wide, &gathers[2]])),
        "rank 3 called all_gather of float64 (4, 8, 0 bytes) for `take`, but rank 1 called all_gather of float32 \
         (4, 8, 0 bytes) for `take`"
    );
    let even = gather("take", DType::F32, &[4, 4, 4], 2);
    assert_eq!(
        first_line(told([&gathers[0], &gathers[1], &even])),
        "rank 5 called all_gather of float32 (4 bytes each) for `take`, but rank 1 called all_gather of float32 \
         (4, 8, 0 bytes) for `take`"
    );
    let max = reduce("sum", Reduction::Max, 64);
    assert_eq!(
        first_line(told([&sum, &sum, &max])),
        "rank 5 called all_reduce by max of float32 (64 bytes) for `sum`, but rank 1 called all_reduce by sum of \
         float32 (64 bytes) for `sum`"
    );
    let ahead = Record {
        sequence: 5,
        ..sum.clone()
    };
    assert_eq!(
        first_line(told([&sum, &ahead, &sum])),
        "rank 3 called all_reduce by sum of float32 (64 bytes) for `sum` as call 5, but rank 1 called all_reduce by \
         sum of float32 (64 bytes) for `sum` as call 4"
    );
}

#[test]
fn what_one_sends_the_other_must_expect() {
    let a = exchange(0, &[1, 2, 3], &[1, 0, 0]);
    let b = exchange(1, &[0, 0, 7], &[2, 0, 5]);
    let c = exchange(2, &[0, 5, 0], &[3, 7, 0]);
    assert!(check(LINE, &[&a, &b, &c]).is_ok());
    let c = exchange(2, &[0, 5, 0], &[3, 6, 0]);
    assert_eq!(
        told([&a, &b, &c]),
        "rank 3 sends 7 bytes to rank 5 in all_to_all of int64 for `reshape`, but rank 5 expects 6\n  ranks: 1, 3, \
         5\n  help: all ranks must give the same logical shapes and layouts"
    );
}

#[test]
fn messages_may_differ_in_length_and_nothing_else() {
    let [a, b, c] = [3, 0, 9].map(|bytes| Record::of_message(0, "from_local", bytes));
    assert!(check(LINE, &[&a, &b, &c]).is_ok());
    let barrier = call("barrier", DType::U8, Collective::Barrier);
    let barrier = Record::of_call(0, LINE, 1, &barrier, 0, 0).expect("a record");
    assert!(told([&a, &barrier, &c]).starts_with(
        "rank 3 called barrier for `barrier`, but rank 1 called tell for `from_local`\n"
    ));
}

#[test]
fn a_call_that_does_not_fit_its_own_buffers_is_told_before_anything_moves() {
    let wrong = |dtype, what, send, recv| {
        let record = Record::of_call(0, LINE, 1, &call("take", dtype, what), send, recv);
        let text = record.expect_err("an error").to_string();
        text.lines().next().map(str::to_string).expect("a line")
    };
    let gather = Collective::AllGather { counts: &[4, 8, 0] };
    assert_eq!(
        wrong(DType::F32, gather, 4, 12),
        "all_gather of float32 (4, 8, 0 bytes) for `take` does not fit its buffers: `send` has 4 bytes, not 8"
    );
    assert_eq!(
        wrong(DType::F32, gather, 8, 13),
        "all_gather of float32 (4, 8, 0 bytes) for `take` does not fit its buffers: `recv` has 13 bytes, not 12"
    );
    let few = Collective::AllGather { counts: &[8, 8] };
    assert_eq!(
        wrong(DType::F32, few, 8, 16),
        "all_gather of float32 (8 bytes each) for `take` does not fit its buffers: it has 2 counts for 3 ranks"
    );
    let by = Reduction::Max;
    assert_eq!(
        wrong(DType::F32, Collective::AllReduce { by }, 6, 6),
        "all_reduce by max of float32 (6 bytes) for `take` does not fit its buffers: that is no whole number of \
         float32 elements"
    );
    assert_eq!(
        wrong(DType::C64, Collective::AllReduce { by }, 8, 8),
        "complex64 numbers have no order, so there is no max of them"
    );
    let huge = [usize::MAX, 1, 0];
    let huge = Collective::ReduceScatter {
        counts: &huge,
        by: Reduction::Sum,
    };
    assert!(wrong(DType::U8, huge, 0, 1).ends_with("`send` has 0 bytes, not too many"));
}

#[test]
fn a_rank_that_is_gone_or_late_is_told_with_the_call_that_needs_it() {
    let record = gather("take", DType::F32, &[4, 8, 0], 0);
    assert_eq!(
        gone(5, &record, "it panicked: boom").to_string(),
        "rank 5 ended before `take` could all_gather: it panicked: boom"
    );
    assert_eq!(
        late(LINE, &[5], &record, Duration::from_millis(500), None).to_string(),
        "rank 5 did not come to all_gather of float32 (4, 8, 0 bytes) for `take` within 0.5 seconds\n  ranks: 1, 3, \
         5\n  help: if it is only slow, allow more seconds with STRIDEWISE_TIMEOUT; else look for a branch that \
         depends on the rank"
    );
    let elsewhere = Some("rank 3 waits for ranks 2, 3".to_string());
    assert_eq!(
        late(LINE, &[3, 5], &record, Duration::from_secs(1), elsewhere).to_string(),
        "ranks 3, 5 did not come to all_gather of float32 (4, 8, 0 bytes) for `take` within 1 second\n  ranks: 1, 3, \
         5\n  meanwhile: rank 3 waits for ranks 2, 3\n  help: all ranks must call the same things in the same order; \
         look for a branch that depends on the rank"
    );
}

#[test]
fn the_timeout_is_a_number_of_seconds() {
    assert_eq!(
        read_timeout(" 2.5 ").ok(),
        Some(Duration::from_millis(2500))
    );
    for wrong in ["", "0", "-1", "nan", "inf", "1e300", "soon"] {
        let error = read_timeout(wrong).expect_err(wrong).to_string();
        assert!(error.starts_with(&format!("STRIDEWISE_TIMEOUT is `{wrong}`")));
    }
}

fn any_record() -> impl Strategy<Value = Record<'static>> {
    let counts = || prop::collection::vec(any::<usize>(), 0..5);
    let by = prop::option::of(prop::sample::select(Reduction::ALL.to_vec()));
    (
        (any::<u64>(), "\\PC{0,9}", any::<usize>()),
        prop::sample::select(Kind::ALL.to_vec()),
        prop::sample::select(DType::ALL.to_vec()),
        (by, counts(), counts()),
    )
        .prop_map(
            |((sequence, operator, bytes), kind, dtype, (by, counts, recv))| Record {
                sequence,
                operator: operator.into(),
                kind,
                dtype,
                by,
                bytes,
                counts: counts.into(),
                recv: recv.into(),
            },
        )
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded(record in any_record()) {
        prop_assert_eq!(Record::decode(&record.encode()).ok(), Some(record));
    }

    #[test]
    fn bytes_that_are_no_record_are_errors_or_some_other_record(
        record in any_record(), keep in 0usize..80, flip in 0usize..80, bit in 0u8..8,
    ) {
        let mut bytes = record.encode();
        if let Some(byte) = bytes.get_mut(flip) {
            *byte ^= 1 << bit;
        }
        bytes.truncate(keep);
        if let Ok(other) = Record::decode(&bytes) {
            prop_assert_eq!(other.encode(), bytes);
        }
    }
}
