const VARIABLE_AS_DATA = /<data>\s*\$(?:\{SVC_VAR_[A-Za-z0-9_]+\}|SVC_VAR_[A-Za-z0-9_]+)\s*<\/data>/g;

/**
 * The property list without the variables that are all of a `<data>` element: their values are base64, but their names
 * are not. Binary property lists stay as they are.
 */
export function withoutDataVariables(plist: Buffer): Buffer {
  // Latin-1, which keeps every byte.
  const text = plist.toString("latin1");
  return text.startsWith("bplist00") ? plist : Buffer.from(text.replace(VARIABLE_AS_DATA, "<data></data>"), "latin1");
}
