//! Layouts that must be refused, and what layouts know of themselves.

use super::*;

#[test]
fn products_that_wrap_are_errors() {
    assert!(Layout::packed(4, &[3, 7, 29, 36_760_123, 823_996_703]).is_err());
    assert!(Layout::packed(1, &[0, isize::MAX as usize, 2]).is_err());
    assert!(Layout::packed(1, &[0, isize::MAX as usize]).is_ok());
    assert!(Layout::packed(2, &[0, isize::MAX as usize]).is_err());
    assert!(Layout::packed(1, &[usize::MAX]).is_err());
}

#[test]
fn offsets_that_leave_the_address_space_are_errors() {
    let new = |dim, stride, offset| Layout::new(8, [dim], [stride], offset);
    assert!(new(2, -1, 0).is_err());
    assert!(new(2, isize::MAX, 0).is_err());
    assert!(new(2, 1, isize::MAX as usize).is_err());
    assert!(new(2, -1, 1).is_ok());
}

#[test]
fn views_of_more_elements_than_can_be_addressed_are_errors() {
    let cell = Layout::packed(4, &[1, 1]).expect("a layout");
    let half = usize::MAX / 2;
    let slice = |of, len, step| Axis::Slice {
        of,
        start: 0,
        len,
        step,
    };
    let split = |of, len| Axis::Split { of, len, inner: 0 };
    let stretch = |of, len| Axis::Stretch { of, len };
    for axes in [
        [Axis::Fresh(half), Axis::Of(0)],
        [Axis::Fresh(half), Axis::Fresh(half)],
        [stretch(0, half), Axis::Of(1)],
        [stretch(0, 1 << 32), stretch(1, 1 << 32)],
        [split(0, half), Axis::Of(1)],
        // A step of 0 stays where it is, and so inside.
        [slice(0, half, 0), Axis::Of(1)],
        [slice(0, (1 << 32) + 1, 0), slice(1, 1 << 32, 0)],
    ] {
        let view = cell.view(4, 2, |out| Ok(axes[out].clone()));
        assert!(view.is_err(), "{axes:?}");
    }
}

#[test]
fn strides_of_empty_shapes_count_the_empty_axis_as_one() {
    assert_eq!(
        Layout::packed(4, &[4, 0, 16]).expect("a layout").strides(),
        [16, 16, 1]
    );
}

#[test]
fn one_run_is_seen_under_any_sizes_of_as_many_elements() {
    let packed = Layout::packed(4, &[2, 3, 4]).expect("a layout");
    let mut view = Seen::new();
    for dims in [&[24][..], &[6, 4], &[1, 2, 12], &[2; 3], &[1; 9]] {
        let fits = packed.see_run(&mut view, dims.len(), |at| dims[at]);
        assert_eq!(fits, dims.iter().product::<usize>() == 24);
        if fits {
            assert_eq!(
                Layout::of(&view),
                Layout::packed(4, dims).expect("a layout")
            );
        }
    }
    let strided = Layout::new(4, [2, 1], [1, 7], 0).expect("a layout");
    assert!(strided.is_packed() && !strided.is_one_run());
    assert!(!Layout::packed(4, &[0]).expect("a layout").is_one_run());
}

#[test]
fn a_layout_knows_whether_it_overlaps_itself() {
    let new = |d: &[usize], s: &[isize]| Layout::new(1, d, s, 50).expect("a layout");
    assert!(!new(&[2, 3], &[3, 1]).overlaps_itself());
    assert!(!new(&[3, 2], &[-1, 3]).overlaps_itself());
    assert!(new(&[3, 2], &[0, 1]).overlaps_itself());
    assert!(new(&[3, 2], &[1, 1]).overlaps_itself());
    assert!(!new(&[1, 2], &[0, 1]).overlaps_itself());
}

/// What `see` concludes from axes that stay inside is what adding up all of them gives.
#[test]
fn a_view_reaches_as_far_as_a_layout_of_its_parts() {
    let whole = Layout::new(4, [3, 4], [5, -1], 9).expect("a layout");
    let maps = |of: usize| {
        let size = whole.dims()[of];
        let steps = [-2, -1, 0, 1, 2];
        let mut maps = vec![Axis::Of(of)];
        for (start, len) in (0..size).flat_map(|start| (0..=size).map(move |len| (start, len))) {
            let slice = |step| Axis::Slice {
                of,
                start,
                len,
                step,
            };
            maps.extend(steps.map(slice));
        }
        let ends = [None, Some(-1), Some(0), Some(2)];
        for (start, stop) in ends
            .iter()
            .flat_map(|start| ends.map(|stop| (*start, stop)))
        {
            let range = |step| Axis::Range {
                of,
                start,
                stop,
                step,
            };
            maps.extend([-2, -1, 1, 2].map(range));
        }
        maps
    };
    let (mut views, seconds) = (0, maps(1));
    for first in maps(0) {
        for second in &seconds {
            for fresh in [0, 1, 7].map(Axis::Fresh) {
                let axes = [second, &fresh, &first];
                let view = whole.view(4, 3, |out| Ok(axes[out].clone()));
                // Slices that leave their axis may lead outside of what can be addressed.
                let Ok(Some(view)) = view else { continue };
                let parts = Layout::new(4, view.dims(), view.strides(), view.offset());
                assert_eq!(view, parts.expect("a layout"), "{axes:?}");
                views += 1;
            }
        }
    }
    assert!(views > 10_000, "{views}");
}

/// Axes are noted in a number of 64 bits.
#[test]
fn a_view_of_many_axes_reaches_as_far_as_a_layout_of_its_parts() {
    for rank in [63, 64, 65, 66, 129] {
        let mut dims = vec![1; rank];
        (dims[0], dims[rank - 1]) = (2, 3);
        let whole = Layout::packed(4, &dims).expect("a layout");
        for axes in [&[0, rank - 1][..], &[rank - 1, 0], &[0, 0], &[rank - 1; 2]] {
            let map = |out: usize| Ok(Axis::Of(axes[out]));
            let view = whole.view(4, 2, map).expect("a layout").expect("a view");
            let parts = Layout::new(4, view.dims(), view.strides(), view.offset());
            assert_eq!(view, parts.expect("a layout"), "{rank} {axes:?}");
        }
        let all = whole.view(4, rank, |out| Ok(Axis::Of(rank - 1 - out)));
        let all = all.expect("a layout").expect("a view");
        assert_eq!((all.dims()[0], all.dims()[rank - 1], all.end()), (3, 2, 6));
    }
}
