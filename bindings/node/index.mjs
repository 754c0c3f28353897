// The same for `import`. Both ways of loading share one addon and one set of classes.
import foreword from "./index.cjs";

export const {
  ForewordError,
  Memory,
  Prompt,
  Skills,
  Workspace,
  build,
  buildAsync,
  checkRequest,
  count,
  diff,
  scan,
  screen,
  select,
  watchReport,
} = foreword;
export default foreword;
