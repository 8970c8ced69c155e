// The exit codes of all commands.

export const exitCodes = {
  done: { code: 0, meaning: "done" },
  failed: { code: 1, meaning: "failed (the server's reason is on stderr)" },
  usage: { code: 2, meaning: "wrong usage: unknown command or flag, missing value, missing or wrong confirmation" },
  not_found: { code: 3, meaning: "not found" },
  denied: { code: 4, meaning: "not signed in, not allowed, or not in the license" },
  conflict: { code: 5, meaning: "conflict, or changed in the meantime" },
  partial: { code: 6, meaning: "failed for some objects" },
  pending: { code: 7, meaning: "still pending when the time limit was reached" },
  unreachable: { code: 8, meaning: "the server cannot be reached" },
  changes: { code: 9, meaning: "plan and drift with --exit-code: there are changes" },
  interrupted: { code: 130, meaning: "interrupted" },
} as const;

export type ExitName = keyof typeof exitCodes;
