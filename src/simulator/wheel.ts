const SLOTS = 8192;

/** A timer that can be armed repeatedly without allocation. */
export class Timer {
  readonly fire: () => void;
  due = 0;
  slot = -1;
  previous: Timer | null = null;
  next: Timer | null = null;

  constructor(fire: () => void) {
    this.fire = fire;
  }

  get armed(): boolean {
    return this.slot >= 0;
  }
}

/**
 * A hashed timer wheel: arming and disarming cost the same for ten agents and for 100,000, and Node has only one
 * timer. The time is passed in, so that tests can control it.
 */
export class Wheel {
  readonly #slots: (Timer | null)[] = new Array<Timer | null>(SLOTS).fill(null);
  readonly #tickMs: number;
  #tick: number;
  #driver: NodeJS.Timeout | null = null;
  readonly now: () => number;

  constructor(now: () => number = () => performance.now(), tickMs = 10) {
    this.now = now;
    this.#tickMs = tickMs;
    this.#tick = Math.floor(now() / tickMs);
  }

  after(ms: number, fire: () => void): Timer {
    const timer = new Timer(fire);
    this.arm(timer, ms);
    return timer;
  }

  arm(timer: Timer, ms: number): void {
    if (timer.slot >= 0) this.disarm(timer);
    const due = Math.max(this.#tick + 1, Math.ceil((this.now() + Math.max(0, ms)) / this.#tickMs));
    const slot = due % SLOTS;
    const head = this.#slots[slot] ?? null;
    timer.due = due;
    timer.slot = slot;
    timer.next = head;
    if (head) head.previous = timer;
    this.#slots[slot] = timer;
  }

  disarm(timer: Timer): void {
    if (timer.slot < 0) return;
    if (timer.previous) timer.previous.next = timer.next;
    else this.#slots[timer.slot] = timer.next;
    if (timer.next) timer.next.previous = timer.previous;
    timer.previous = null;
    timer.next = null;
    timer.slot = -1;
  }

  /** Fires all due timers. Called by the driver, or by a test that has moved its clock. */
  advance(): void {
    const target = Math.floor(this.now() / this.#tickMs);
    // After a long stall one round visits every slot. More rounds would find nothing new.
    if (target - this.#tick > SLOTS) this.#tick = target - SLOTS;
    while (this.#tick < target) {
      this.#tick++;
      this.#runSlot(this.#tick % SLOTS, target);
    }
  }

  #runSlot(slot: number, target: number): void {
    const due: Timer[] = [];
    for (let timer = this.#slots[slot] ?? null; timer; timer = timer.next) if (timer.due <= target) due.push(timer);
    for (const timer of due) this.disarm(timer);
    for (const timer of due) if (timer.slot < 0) timer.fire();
  }

  start(): void {
    this.#driver ??= setInterval(() => this.advance(), this.#tickMs);
  }

  stop(): void {
    if (this.#driver) clearInterval(this.#driver);
    this.#driver = null;
  }
}
