//! The forward pass of the full model: three n-gram convolutions over pieces, a norm, a sum, and a
//! small residual network.
//!
//! Matrices are row-major and multiply a row vector from the right. `T` is the number of pieces of
//! a text with its start and end.

use crate::full_model::file::{Tensor, WIDTH, Weights};

/// The width of a branch.
const BRANCH: usize = 256;
/// The length of a branch's window, and how many pieces of it lie before the centre.
const WINDOWS: [(u8, usize); 3] = [(2, 0), (3, 1), (5, 2)];
const FEATURES: usize = WIDTH + 3 * BRANCH;

/// The vector of a text from the embeddings of its pieces (T rows of 512), not yet of length one.
pub(crate) fn encode(weights: &Weights, embeddings: &[f32]) -> Vec<f32> {
    let w = |tensor| weights.get(tensor);
    let epsilon = w(Tensor::Epsilon).first().copied().unwrap_or_default();
    let count = embeddings.len() / WIDTH;

    let mut projected = product(embeddings, WIDTH, w(Tensor::Projection), 3 * BRANCH);
    for row in projected.chunks_exact_mut(3 * BRANCH) {
        add(row, w(Tensor::ProjectionBias));
        layer_norm(row, w(Tensor::ProjectionGain), w(Tensor::ProjectionShift), epsilon);
    }

    let mut features = vec![0.0; count * FEATURES];
    for (to, from) in features.chunks_exact_mut(FEATURES).zip(embeddings.chunks_exact(WIDTH)) {
        to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
    }
    for (branch, (length, left)) in WINDOWS.into_iter().enumerate() {
        let input =
            projected.chunks_exact(3 * BRANCH).flat_map(|row| row.chunks_exact(BRANCH).nth(branch));
        let mut x: Vec<f32> = input.flatten().copied().collect();
        for (matrix, bias) in [
            (Tensor::First(length), Tensor::FirstBias(length)),
            (Tensor::Second(length), Tensor::SecondBias(length)),
        ] {
            convolve(&mut x, usize::from(length), left, w(matrix), w(bias));
        }
        let start = WIDTH + branch * BRANCH;
        for (to, from) in features.chunks_exact_mut(FEATURES).zip(x.chunks_exact(BRANCH)) {
            to.iter_mut().skip(start).zip(from).for_each(|(to, from)| *to = *from);
        }
    }

    let mut summed = vec![0.0; FEATURES];
    for row in features.chunks_exact_mut(FEATURES) {
        layer_norm(row, w(Tensor::Gain), w(Tensor::Shift), epsilon);
        add(&mut summed, row);
    }
    let size = count.max(1) as f32;
    let mut x = product(&summed, FEATURES, w(Tensor::Joint), WIDTH);
    x.iter_mut()
        .zip(w(Tensor::JointBias))
        .for_each(|(x, bias)| *x = (*x + size * bias) / size.sqrt());

    let mut y = block(&x, WIDTH, 320, [w(Tensor::D0), w(Tensor::D1), w(Tensor::P1)], 320);
    relu(&mut y);
    let mut z = block(&y, 320, WIDTH, [w(Tensor::D2), w(Tensor::D3), w(Tensor::P3)], WIDTH);
    z.iter_mut().for_each(|z| *z = z.tanh());
    z
}

/// `relu(x @ a) @ b + x @ side`
fn block(x: &[f32], width: usize, inner: usize, [a, b, side]: [&[f32]; 3], out: usize) -> Vec<f32> {
    let mut hidden = product(x, width, a, inner);
    relu(&mut hidden);
    let mut sum = product(&hidden, inner, b, out);
    add(&mut sum, &product(x, width, side, out));
    sum
}

/// `x += relu(windows of x @ matrix + bias)`, zeros standing outside the text.
fn convolve(x: &mut [f32], length: usize, left: usize, matrix: &[f32], bias: &[f32]) {
    let count = x.len() / BRANCH;
    let mut stacked = vec![0.0; count * length * BRANCH];
    for (place, window) in stacked.chunks_exact_mut(length * BRANCH).enumerate() {
        let slots = window.chunks_exact_mut(BRANCH).skip(left.saturating_sub(place));
        let rows = x.chunks_exact(BRANCH).skip(place.saturating_sub(left));
        slots.zip(rows).for_each(|(slot, row)| slot.copy_from_slice(row));
    }
    let mut change = product(&stacked, length * BRANCH, matrix, BRANCH);
    change.chunks_exact_mut(BRANCH).for_each(|row| add(row, bias));
    relu(&mut change);
    add(x, &change);
}

/// How many rows share one pass over the matrix.
const ROWS: usize = 4;

/// The product of rows of `width` numbers with a matrix of `width` rows of `out` numbers.
fn product(x: &[f32], width: usize, matrix: &[f32], out: usize) -> Vec<f32> {
    let mut result = vec![0.0; x.len() / width * out];
    for (to, from) in result.chunks_mut(ROWS * out).zip(x.chunks(ROWS * width)) {
        for (column, weights) in matrix.chunks_exact(out).enumerate() {
            for (to, from) in to.chunks_exact_mut(out).zip(from.chunks_exact(width)) {
                let factor = from.get(column).copied().unwrap_or_default();
                if factor != 0.0 {
                    to.iter_mut().zip(weights).for_each(|(to, weight)| *to += factor * weight);
                }
            }
        }
    }
    result
}

fn add(to: &mut [f32], from: &[f32]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
}

fn relu(x: &mut [f32]) {
    x.iter_mut().for_each(|x| *x = x.max(0.0));
}

fn layer_norm(x: &mut [f32], gain: &[f32], shift: &[f32], epsilon: f32) {
    let size = x.len().max(1) as f32;
    let mean = x.iter().sum::<f32>() / size;
    x.iter_mut().for_each(|x| *x -= mean);
    let variance = x.iter().map(|x| x * x).sum::<f32>() / size;
    let factor = (variance + epsilon).sqrt().recip();
    for ((x, gain), shift) in x.iter_mut().zip(gain).zip(shift) {
        *x = *x * factor * gain + shift;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_the_textbook() {
        let x: Vec<f32> = (1..=10_u8).map(f32::from).collect();
        let matrix = [1.0, 0.0, 1.0, 0.0, 1.0, 2.0];
        let expected =
            [1.0, 2.0, 5.0, 3.0, 4.0, 11.0, 5.0, 6.0, 17.0, 7.0, 8.0, 23.0, 9.0, 10.0, 29.0];
        assert_eq!(product(&x, 2, &matrix, 3), expected);
    }

    #[test]
    fn windows_end_where_the_text_ends() {
        // The matrix adds up the window, so every piece gets the sum of itself and its neighbours.
        let mut matrix = vec![0.0; 3 * BRANCH * BRANCH];
        for (row, weights) in matrix.chunks_exact_mut(BRANCH).enumerate() {
            weights[row % BRANCH] = 1.0;
        }
        let mut x: Vec<f32> = [1.0, 10.0, 100.0].iter().flat_map(|x| [*x; BRANCH]).collect();
        convolve(&mut x, 3, 1, &matrix, &[0.0; BRANCH]);
        let firsts: Vec<f32> = x.chunks_exact(BRANCH).map(|row| row[0]).collect();
        assert_eq!(firsts, [12.0, 121.0, 210.0]);
    }

    #[test]
    fn a_norm_has_mean_zero_and_deviation_one() {
        let mut x = [1.0, 3.0];
        layer_norm(&mut x, &[1.0, 1.0], &[0.0, 5.0], 0.0);
        assert_eq!(x, [-1.0, 6.0]);
    }
}
