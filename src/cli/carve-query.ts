// The SQL that makes a host send files.

/** One carve for one path: the agent's wildcards are `%` (one level) and `%%` (all below); a shell's are taken for them. */
export const carveSql = (path: string): string =>
  `SELECT * FROM carves WHERE path LIKE '${wildcards(path).replaceAll("'", "''")}' AND carve = 1`;

const wildcards = (path: string): string => path.replaceAll("**", "%%").replaceAll("*", "%");
