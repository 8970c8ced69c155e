// Words for shells: whatever a text contains, the shell takes it for one word and runs nothing in it.

/** For POSIX shells. */
export const shellWord = (text: string): string =>
  /^[\w./:@%+,=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** For PowerShell, which ends such texts at typographic quotes too. */
export const powershellWord = (text: string): string => `'${text.replace(/['\u2018\u2019\u201a\u201b]/g, "$&$&")}'`;
