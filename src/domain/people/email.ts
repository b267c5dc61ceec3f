/** What can be an e-mail address. */

/** Without brackets and zero widths, which mail leaves out: two profiles would write to one mailbox. */
export const emailForm = /^[^\s@<>\u200b-\u200f\u2060]+@[^\s@<>\u200b-\u200f\u2060]+$/
