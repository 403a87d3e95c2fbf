//! Keeps the figures, shows them as a table and writes them as JSON.

use crate::conditions::Conditions;
use serde_json::json;

/// What a figure is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    /// This system, on its defaults.
    Jobs,
    /// The best that is possible without it.
    Limit,
}

impl Subject {
    fn name(self) -> &'static str {
        match self {
            Self::Jobs => "jobs",
            Self::Limit => "limit",
        }
    }
}

/// One measurement, taken several times.
struct Figure {
    bench: &'static str,
    subject: Subject,
    config: &'static str,
    unit: &'static str,
    runs: Vec<f64>,
}

/// The figures of one run of the program.
pub(crate) struct Report {
    conditions: Conditions,
    figures: Vec<Figure>,
}

impl Report {
    pub(crate) fn new(conditions: Conditions) -> Self {
        Self { conditions, figures: Vec::new() }
    }

    pub(crate) fn conditions(&self) -> String {
        format!("{}\n{}\n", self.conditions.machine, self.conditions.postgres)
    }

    /// Adds one run's value to a figure.
    pub(crate) fn add(
        &mut self,
        bench: &'static str,
        subject: Subject,
        config: &'static str,
        unit: &'static str,
        value: f64,
    ) {
        let same = |figure: &&mut Figure| {
            (figure.bench, figure.subject, figure.config, figure.unit) == (bench, subject, config, unit)
        };
        match self.figures.iter_mut().find(same) {
            Some(figure) => figure.runs.push(value),
            None => self.figures.push(Figure { bench, subject, config, unit, runs: vec![value] }),
        }
    }

    /// Shows the figures of one benchmark: median, range, and the ratio to the limit of the same unit.
    pub(crate) fn print(&self, bench: &str) {
        for figure in self.figures.iter().filter(|figure| figure.bench == bench) {
            let sorted = figure.sorted();
            let range = match (sorted.first(), sorted.last()) {
                (Some(least), Some(most)) if sorted.len() > 1 => format!("{} – {}", short(*least), short(*most)),
                _ => String::new(),
            };
            let limit = self.figures.iter().find(|other| {
                other.subject == Subject::Limit && (other.bench, other.unit) == (figure.bench, figure.unit)
            });
            let ratio = match limit {
                Some(limit) if figure.subject != Subject::Limit => {
                    format!("{:.2} × limit", figure.median() / limit.median())
                }
                _ => String::new(),
            };
            println!(
                "{:14} {:6} {:>10} {:16} {:>21}  {:14} {}",
                figure.bench,
                figure.subject.name(),
                short(figure.median()),
                figure.unit,
                range,
                ratio,
                figure.config
            );
        }
    }

    /// The figures as JSON.
    pub(crate) fn json(&self) -> String {
        let results: Vec<_> = self
            .figures
            .iter()
            .map(|figure| {
                json!({
                    "bench": figure.bench,
                    "subject": figure.subject.name(),
                    "config": figure.config,
                    "unit": figure.unit,
                    "runs": figure.runs,
                    "median": figure.median(),
                })
            })
            .collect();
        let report = json!({
            "machine": self.conditions.machine,
            "postgres": self.conditions.postgres,
            "results": results,
        });
        format!("{report:#}\n")
    }
}

impl Figure {
    fn sorted(&self) -> Vec<f64> {
        let mut sorted = self.runs.clone();
        sorted.sort_by(f64::total_cmp);
        sorted
    }

    fn median(&self) -> f64 {
        self.sorted()[self.runs.len() / 2]
    }
}

/// Three digits that count.
fn short(value: f64) -> String {
    match value.abs() {
        v if v >= 100.0 => {
            let digits = format!("{value:.0}");
            let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
            groups.join(",")
        }
        v if v >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}
