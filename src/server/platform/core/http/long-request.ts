// Requests whose bodies may take longer than the time that any other request has, because they are that large.

const LONG = Symbol("long request");

/** From now on, whoever reads the body watches its sender. */
export function allowLong(req: object): void {
  Object.defineProperty(req, LONG, { value: true });
}

export const isLong = (req: object): boolean => LONG in req;
