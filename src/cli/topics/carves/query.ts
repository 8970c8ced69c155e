// The SQL that makes a host upload files.

/**
 * SQL for one carve of one path. The agent's wildcards are `%` (one level) and `%%` (all levels below); the shell's
 * `*` and `**` are translated to them.
 */
export const carveSql = (path: string): string =>
  `SELECT * FROM carves WHERE path LIKE '${wildcards(path).replaceAll("'", "''")}' AND carve = 1`;

const wildcards = (path: string): string => path.replaceAll("**", "%%").replaceAll("*", "%");
