//! The main job: reserve, spawn, train, evaluate.

use std::fmt;
use std::time::Duration;

use mobula::BoxError;
use mobula::placement::ActorMesh;
use mobula::prelude::*;
use mobula::xla::plugin::{PluginSearch, Progress};

use crate::arguments::Arguments;
use crate::worker::{CountRows, Epoch, Evaluate, Job, Worker};
use crate::{digits, screen};

/// What a run came to.
pub struct Report {
    /// The loss of every step.
    pub losses: Vec<f32>,
    /// Held-out digits that were recognised.
    pub right: f32,
    /// Held-out digits.
    pub held_out: usize,
    /// Devices of the mesh.
    pub devices: u32,
}

impl Report {
    pub fn accuracy(&self) -> f32 {
        self.right / self.held_out as f32
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { losses, held_out, devices, .. } = self;
        if let (Some(first), Some(last)) = (losses.first(), losses.last()) {
            writeln!(f, "{} steps, loss {first:.4} -> {last:.4}", losses.len())?;
        }
        write!(f, "accuracy {:.3} on {held_out} held-out digits over {devices} devices", self.accuracy())
    }
}

pub async fn run(arguments: &Arguments) -> Result<Report, BoxError> {
    let plugin = find_plugin(arguments).await?;
    let runtime = Runtime::builder().virtual_slice("v6e", "4x4").start().await?;
    let group = runtime.slice_placement_group("v6e", "4x4").named("quickstart").reserve().await?;
    screen::draw(&group);
    let devices = group.assignment().chips();

    let job = Job { plugin, data: digits::path(), seed: arguments.seed };
    let starting = screen::spinner("spawning the gang and compiling its programs");
    let gang = group.spawn::<Worker>(job).await?;
    starting.finish_and_clear();
    for (place, rows) in gang.ranks().iter().zip(gang.ask_all(CountRows).await) {
        let (train, held_out) = rows.map_err(AskError::without_message)?;
        let chips: Vec<_> = place.chips.iter().map(|chip| format!("({},{})", chip.at.x, chip.at.y)).collect();
        let chips = chips.join(" ");
        screen::say(format_args!(
            "rank {}: {train} rows to train on, {held_out} held out, chips {chips}",
            place.rank
        ));
    }

    let losses = train(&gang, arguments.epochs).await?;
    let (right, held_out) = evaluate(&gang).await?;
    drop(gang.stop(Duration::from_secs(5)).await);
    runtime.shutdown().await?;
    Ok(Report { losses, right, held_out, devices })
}

/// The plugin that the members will load. Fetching is allowed here, and shown: it is the one slow step on a new machine.
async fn find_plugin(arguments: &Arguments) -> Result<std::path::PathBuf, BoxError> {
    if let Some(path) = &arguments.plugin {
        return Ok(path.clone());
    }
    let fetching = screen::spinner("looking for a PJRT plugin");
    let shown = fetching.clone();
    let search = PluginSearch::new().fetch(true).on_progress(move |progress: Progress| {
        shown.set_message(match progress {
            Progress::Waiting => "another process is fetching the PJRT plugin".to_owned(),
            Progress::Downloading { requirement } => format!("pip downloads {requirement}"),
            Progress::Unpacking { bytes } => format!("unpacking the plugin, {} MB", bytes >> 20),
            other => format!("{other:?}"),
        });
    });
    let found = search.find().await;
    fetching.finish_and_clear();
    Ok(found?.1)
}

/// The loss of every step. All members see the same, since every launch is one program over all of them.
async fn train(gang: &ActorMesh<Worker>, epochs: u32) -> Result<Vec<f32>, BoxError> {
    let bar = screen::bar(u64::from(epochs));
    let mut losses = Vec::new();
    for epoch in 0..epochs {
        let of_ranks = all(gang.ask_all(Epoch(epoch)).await)?;
        if let Some(other) = of_ranks.iter().position(|of_rank| of_rank != &of_ranks[0]) {
            return Err(format!("ranks 0 and {other} computed different losses in epoch {epoch}").into());
        }
        losses.extend_from_slice(&of_ranks[0]);
        if let Some(loss) = losses.last() {
            bar.set_message(format!("loss {loss:.4}"));
            if bar.is_hidden() && (epoch + 1) % 10 == 0 {
                screen::say(format_args!("epoch {:>3}  loss {loss:.4}", epoch + 1));
            }
        }
        bar.inc(1);
    }
    bar.finish();
    Ok(losses)
}

/// How many held-out rows are right, and how many there are.
async fn evaluate(gang: &ActorMesh<Worker>) -> Result<(f32, usize), BoxError> {
    let of_ranks = all(gang.ask_all(Evaluate).await)?;
    let held_out = of_ranks.iter().map(|(_, rows)| rows).sum();
    Ok((of_ranks[0].0, held_out))
}

/// The values of all ranks, or the first error.
fn all<T, M>(answers: Vec<Result<T, AskError<M, String>>>) -> Result<Vec<T>, BoxError> {
    answers.into_iter().map(|answer| answer.map_err(|error| error.without_message().into())).collect()
}
