// Words for shells: whatever a text contains, the shell takes it for one word and runs nothing in it.

/** For POSIX shells, with quotes where the word needs them. */
export const shellWord = (text: string): string => (/^[\w./:@%+,=-]+$/.test(text) ? text : quotedShellWord(text));

/** An argument at the end of a command line. A text that begins with a dash would be read as an option. */
export const shellArgument = (text: string): string =>
  text.startsWith("-") ? `-- ${shellWord(text)}` : shellWord(text);

/** An option with its value, which may begin with a dash. */
export const shellOption = (name: string, value: string): string =>
  `--${name}${value.startsWith("-") ? "=" : " "}${shellWord(value)}`;

/** For POSIX shells, always with quotes. */
export const quotedShellWord = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** For PowerShell, which ends such texts at typographic quotes too. */
export const powershellWord = (text: string): string => `'${text.replace(/['\u2018\u2019\u201a\u201b]/g, "$&$&")}'`;
