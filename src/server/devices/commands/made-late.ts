// Commands that are made when the device asks for them, because they contain what is good for one device, or a secret.

/** The command cannot be made. It ends as if the device had refused it, with this reason. */
export class NotMade extends Error {}
