//! Names and weights of features.

use crate::error::{Error, Result};

/// Weights by name, in the order of printed features.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FeatureWeights {
    names: Vec<String>,
    values: Vec<f64>,
}

impl FeatureWeights {
    /// Create weights of 0.
    pub fn zero(names: Vec<String>) -> Self {
        let values = vec![0.0; names.len()];
        FeatureWeights { names, values }
    }

    /// Return the names, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Return the values, in the order of the names.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Return the index of a name.
    pub fn index(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    /// Maximum absolute value of a weight: scores are 32-bit floats with a maximum of 3.4e38, and
    /// the values of a feature over 2,000 words stay far below 1e8.
    pub const MAX: f64 = 1e30;

    /// Set a weight. Return an error for an unknown name, and for a value that is not finite or
    /// beyond `MAX`.
    pub fn set(&mut self, name: &str, value: f64) -> Result<()> {
        let place = self.index(name).ok_or_else(|| Error::Argument {
            name: "weight".into(),
            found: format!("`{name}`"),
            expected: format!("one of {}", self.names.join(", ")),
        })?;
        if !(value.is_finite() && value.abs() <= FeatureWeights::MAX) {
            let most = FeatureWeights::MAX;
            return Err(Error::Argument {
                name: format!("weight {name}"),
                found: if value.is_finite() { format!("{value:e}") } else { value.to_string() },
                expected: format!("a number from -{most:e} to {most:e}; try weights around 1"),
            });
        }
        self.values[place] = value;
        Ok(())
    }

    /// Return the weighted sum of feature values.
    pub fn total(&self, features: &[f64]) -> f64 {
        self.values.iter().zip(features).map(|(weight, value)| weight * value).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_is_told_the_known_ones() {
        let mut weights = FeatureWeights::zero(vec!["lm".into(), "wp".into()]);
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
        weights.set("lm", FeatureWeights::MAX).unwrap();
    }
}
