/** What can be an e-mail address. */

/**
 * Brackets and what has no width, which mail leaves out: two profiles would write to one mailbox. Spelled out, because
 * the form is published, and many programs that read it know no classes of Unicode and none of its higher planes.
 */
const leftOut = String.raw`<>\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8`

export const emailForm = new RegExp(`^[^\\s@${leftOut}]+@[^\\s@${leftOut}]+$`)
