//! Names of features and the weight of each.

use crate::error::{Error, Result};

/// Weights by name, in the order in which features are printed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Weights {
    names: Vec<String>,
    values: Vec<f64>,
}

impl Weights {
    /// All weights 0.
    pub fn zero(names: Vec<String>) -> Self {
        let values = vec![0.0; names.len()];
        Weights { names, values }
    }

    /// The names, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The values, in the order of the names.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The place of a name.
    pub fn index(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    /// The largest size of a weight: scores are 32-bit floats, which end at 3.4e38, and the values
    /// of a feature over a sentence of 2,000 words stay far below 1e8.
    pub const MAX: f64 = 1e30;

    /// Sets one weight; an unknown name, a value that is not finite or one beyond `MAX` is an
    /// error.
    pub fn set(&mut self, name: &str, value: f64) -> Result<()> {
        let place = self.index(name).ok_or_else(|| Error::Argument {
            name: "weight".into(),
            found: format!("`{name}`"),
            expected: format!("one of {}", self.names.join(", ")),
        })?;
        if !(value.is_finite() && value.abs() <= Weights::MAX) {
            let most = Weights::MAX;
            return Err(Error::Argument {
                name: format!("weight {name}"),
                found: if value.is_finite() { format!("{value:e}") } else { value.to_string() },
                expected: format!("a number from -{most:e} to {most:e}; try weights around 1"),
            });
        }
        self.values[place] = value;
        Ok(())
    }

    /// Weighted sum of feature values.
    pub fn total(&self, features: &[f64]) -> f64 {
        self.values.iter().zip(features).map(|(weight, value)| weight * value).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_is_told_the_known_ones() {
        let mut weights = Weights::zero(vec!["lm".into(), "wp".into()]);
        weights.set("wp", -0.5).unwrap();
        assert_eq!(weights.total(&[1.0, -4.0]), 2.0);
        assert_eq!(
            weights.set("pp", 1.0).unwrap_err().to_string(),
            "weight: found `pp`; expected one of lm, wp"
        );
        assert_eq!(
            weights.set("lm", f64::NAN).unwrap_err().to_string(),
            "weight lm: found NaN; expected a number from -1e30 to 1e30; try weights around 1"
        );
        assert_eq!(
            weights.set("lm", -1e308).unwrap_err().to_string(),
            "weight lm: found -1e308; expected a number from -1e30 to 1e30; try weights around 1"
        );
        weights.set("lm", Weights::MAX).unwrap();
    }
}
