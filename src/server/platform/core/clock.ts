/** The server's only source of time, so that tests can set it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** The current time in the format of the store and the API. */
  iso(): string;
  /** Resolves after this many milliseconds. */
  sleep(milliseconds: number): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  iso: () => new Date().toISOString(),
  sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
};

export const isoAt = (milliseconds: number): string => new Date(milliseconds).toISOString();

/** `time` plus milliseconds, both ISO. */
export const isoPlus = (time: string, milliseconds: number): string => isoAt(Date.parse(time) + milliseconds);

export const seconds = (n: number): number => n * 1000;
export const minutes = (n: number): number => n * 60_000;
export const hours = (n: number): number => n * 3_600_000;
export const days = (n: number): number => n * 86_400_000;

/** The value that means "never" in a field that must be a time. */
export const NEVER = "2000-01-01T00:00:00Z";
