//! A slice as text: hosts as boxes with their worker id, chips with their coordinates.

use std::fmt;

use super::grid::{Coord, Grid};
use super::spec::SliceSpec;

const WIDTH_MAX: usize = 80;
const CHIPS_DRAWN_MAX: u32 = 64;
const LAYERS_DRAWN_MAX: u16 = 4;
const ROWS_DRAWN_MAX: u16 = 16;

/// A slice as text, at most 80 columns wide.
///
/// Up to 64 chips are drawn one by one, y downwards, a layer for each z; a larger slice is drawn as its grid of worker
/// ids, and of a very large one the middle is left out and said to be.
///
/// # Examples
/// ```
/// use mobula_placement::topology::SliceSpec;
///
/// let picture = SliceSpec::parse("v6e", "2x4")?.with_chips_per_host(4)?.picture().to_string();
/// assert_eq!(picture, "\
/// v6e 2x4 (4 chips a host): 8 chips on 2 hosts of 4
/// +- worker 0 ---+
/// | (0,0)  (1,0) |
/// | (0,1)  (1,1) |
/// +- worker 1 ---+
/// | (0,2)  (1,2) |
/// | (0,3)  (1,3) |
/// +--------------+
/// ");
/// # Ok::<(), mobula_placement::topology::SpecError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Picture {
    spec: SliceSpec,
    labels: Vec<String>,
}

impl SliceSpec {
    /// Draws the slice.
    pub fn picture(self) -> Picture {
        Picture { spec: self, labels: Vec::new() }
    }
}

impl Picture {
    /// Writes a word of the caller's beside each worker id: who holds it, or that it is lost. The label of worker `i` is
    /// item `i`; one that is too long for its box is cut.
    #[must_use]
    pub fn with_labels<I: IntoIterator<Item: Into<String>>>(mut self, labels: I) -> Self {
        self.labels = labels.into_iter().take(self.spec.hosts() as usize).map(Into::into).collect();
        self
    }

    fn is_flat(&self) -> bool {
        self.spec.topology().dims() == 2
    }

    fn chip_text(&self, chip: Coord) -> String {
        if self.is_flat() { format!("({},{})", chip.x, chip.y) } else { chip.to_string() }
    }

    fn title(&self, worker: u32) -> String {
        match self.labels.get(worker as usize) {
            Some(label) if !label.is_empty() => format!(" worker {worker} {label} "),
            _ => format!(" worker {worker} "),
        }
    }

    /// The widest chip text of the slice.
    fn chip_width(&self) -> usize {
        let [x, y, z] = self.spec.chip_grid().0;
        self.chip_text(Coord::new(x - 1, y - 1, z - 1)).len()
    }

    fn box_width(&self) -> usize {
        let across = usize::from(self.spec.host_block().0[0]);
        let chips = across * self.chip_width() + (across - 1) * 2 + 2;
        chips.max(self.title(self.spec.hosts() - 1).len() + 1)
    }

    fn draws_chips(&self) -> bool {
        let hosts_across = usize::from(self.spec.host_grid().0[0]);
        self.spec.chips() <= CHIPS_DRAWN_MAX && hosts_across * (self.box_width_plain() + 1) < WIDTH_MAX
    }

    /// The width of a box when labels are left out of account.
    fn box_width_plain(&self) -> usize {
        Picture { spec: self.spec, labels: Vec::new() }.box_width()
    }

    fn draw_boxes(&self, f: &mut fmt::Formatter<'_>, layer: u16) -> fmt::Result {
        let Grid([hosts_across, hosts_down, _]) = self.spec.host_grid();
        let Grid([across, down, _]) = self.spec.host_block();
        let (width, chip_width) = (self.box_width_plain(), self.chip_width());
        for row in 0..hosts_down {
            for column in 0..hosts_across {
                let worker = self.spec.worker_at(Coord::new(column, row, layer)).unwrap_or_default();
                let title: String = self.title(worker).chars().take(width - 1).collect();
                write!(f, "+-{title:-<fill$}", fill = width - 1)?;
            }
            writeln!(f, "+")?;
            for inner in 0..down {
                for column in 0..hosts_across {
                    let chips = (0..across).map(|x| {
                        let chip = Coord::new(column * across + x, row * down + inner, layer);
                        format!("{:<chip_width$}", self.chip_text(chip))
                    });
                    write!(f, "|{:<width$}", format!(" {}", chips.collect::<Vec<_>>().join("  ")))?;
                }
                writeln!(f, "|")?;
            }
        }
        for _ in 0..hosts_across {
            write!(f, "+{:-<width$}", "")?;
        }
        writeln!(f, "+")
    }

    fn draw_workers(&self, f: &mut fmt::Formatter<'_>, layer: u16) -> fmt::Result {
        let Grid([across, down, _]) = self.spec.host_grid();
        let width = (self.spec.hosts() - 1).to_string().len() + 1;
        let columns_max = (WIDTH_MAX - 4) / width;
        for row in drawn(down, ROWS_DRAWN_MAX) {
            let Some(row) = row else {
                writeln!(f, "  ...")?;
                continue;
            };
            for column in 0..usize::from(across).min(columns_max) {
                let at = Coord::new(column as u16, row, layer);
                write!(f, "{:>width$}", self.spec.worker_at(at).unwrap_or_default())?;
            }
            writeln!(f, "{}", if usize::from(across) > columns_max { " ..." } else { "" })?;
        }
        Ok(())
    }
}

/// Which of `count` lines to draw: all, or the first ones, a gap, and the last.
fn drawn(count: u16, max: u16) -> impl Iterator<Item = Option<u16>> {
    let gap = count > max;
    let head = if gap { max - 1 } else { count };
    let tail = gap.then_some([None, Some(count - 1)]).into_iter().flatten();
    (0..head).map(Some).chain(tail)
}

impl fmt::Display for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spec = self.spec;
        let s = if spec.hosts() == 1 { "" } else { "s" };
        writeln!(
            f,
            "{spec}: {} chips on {} host{s} of {}",
            spec.chips(),
            spec.hosts(),
            spec.chips_per_host()
        )?;
        let boxes = self.draws_chips();
        if !boxes {
            writeln!(f, "worker ids, x to the right, y downwards:")?;
        }
        let layers = spec.host_grid().0[2];
        for layer in drawn(layers, LAYERS_DRAWN_MAX) {
            let Some(layer) = layer else {
                writeln!(f, "... {} more layers", layers - LAYERS_DRAWN_MAX)?;
                continue;
            };
            if !self.is_flat() {
                writeln!(f, "z = {layer}")?;
            }
            if boxes { self.draw_boxes(f, layer)? } else { self.draw_workers(f, layer)? }
        }
        Ok(())
    }
}
