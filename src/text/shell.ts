// Words for shells: whatever a text contains, the shell takes it for one word and runs nothing in it.

/** For POSIX shells, with quotes where the word needs them. */
export const shellWord = (text: string): string => (/^[\w./:@%+,=-]+$/.test(text) ? text : quotedShellWord(text));

/** For POSIX shells, always with quotes. */
export const quotedShellWord = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** For PowerShell, which ends such texts at typographic quotes too. */
export const powershellWord = (text: string): string => `'${text.replace(/['\u2018\u2019\u201a\u201b]/g, "$&$&")}'`;
