import type { GitopsExceptions } from "../../api/settings/app-config.ts";

/** Whether people change objects with this exception by hand, although files determine the rest. */
export const isExcepted = (
  exception: keyof GitopsExceptions | undefined,
  exceptions: GitopsExceptions | undefined,
): boolean => exception !== undefined && (exceptions?.[exception] ?? false);
