export interface GuardOptions {
  /** The name of the tool, for the warning. */
  tool?: string;
  /** Throw a ForewordError of kind "failed" instead of quoting the text. */
  block?: boolean;
}
/**
 * Scans the result of a tool, and gives the text that a model may read. What passes is unchanged. What looks like an
 * injection is quoted line by line under a warning.
 */
export function guard(text: string, options?: GuardOptions): Promise<string>;
/** `guard` for structured results: every text in arrays and plain objects is judged, and the shape stays. */
export function guardValue<T>(value: T, options?: GuardOptions): Promise<T>;
