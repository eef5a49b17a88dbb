// The values that node-soap's client sends, and what its server answers.

exports.ints = [0, 1, -1, 2 ** 31 - 1, -(2 ** 31)];
for (let value = -300; value < 300; value += 7) exports.ints.push(value);

/** Finite doubles over all exponents. */
exports.hardDoubles = (count) => {
  const values = [0, 5e-324, Number.MAX_VALUE, 0.1];
  const view = new DataView(new ArrayBuffer(8));
  let state = 0x9e3779b9;
  const draw = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state;
  };
  while (values.length < count) {
    view.setInt32(0, draw());
    view.setInt32(4, draw());
    const value = view.getFloat64(0);
    if (Number.isFinite(value)) values.push(value);
  }
  return values;
};

exports.sum = (values) => values.reduce((sum, value) => sum + value, 0);

/** Every inner point becomes the mean of its four neighbours; and the largest change. */
exports.jacobi = (rows, columns, old) => {
  const field = old.slice();
  let residual = 0;
  for (let row = 1; row < rows - 1; row++) {
    for (let i = row * columns + 1; i < (row + 1) * columns - 1; i++) {
      field[i] = 0.25 * (old[i - columns] + old[i + columns] + old[i - 1] + old[i + 1]);
      residual = Math.max(residual, Math.abs(field[i] - old[i]));
    }
  }
  return { field: { item: field }, residual };
};
