// What a thread and its owner send to each other.

/** The functions of a thread by name. Arguments and results are copied between the threads (structured clone). */
export type ThreadMethods = Readonly<Record<string, (...args: never[]) => unknown>>;

export interface ThreadCall {
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

/** `kind`: the name of the error's class, because classes do not survive the way between threads. */
export interface ThreadFailure {
  readonly kind: string;
  readonly message: string;
  readonly stack: string | undefined;
}

export type ThreadReply = { readonly id: number } & (
  | { readonly result: unknown }
  | { readonly failure: ThreadFailure }
);
