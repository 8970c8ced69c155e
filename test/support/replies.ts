// What tests read from replies.

export const json = async <T = Record<string, unknown>>(reply: Response | Promise<Response>): Promise<T> =>
  (await (await reply).json()) as T;

/** The first reason of an error. */
export const reasonOf = async (reply: Response | Promise<Response>): Promise<string> =>
  (await json<{ errors: { reason: string }[] }>(reply)).errors[0]!.reason;
