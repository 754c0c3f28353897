// CPU time of a builder under node, measured as `foreword eval speed` measures ours: rounds of many
// builds, the best and the median round.
export function measure(build, builds) {
  const rounds = 25;
  const perRound = Math.max(1, Math.floor(builds / rounds));
  const text = build();
  for (let i = 0; i < builds; i++) build(); // let the JIT settle
  const micros = [];
  for (let round = 0; round < rounds; round++) {
    const start = process.cpuUsage();
    for (let i = 0; i < perRound; i++) build();
    const used = process.cpuUsage(start);
    micros.push((used.user + used.system) / perRound);
  }
  micros.sort((a, b) => a - b);
  return {
    minUs: micros[0],
    medianUs: micros[Math.floor(rounds / 2)],
    bytes: Buffer.byteLength(text),
    builds: rounds * perRound,
  };
}
