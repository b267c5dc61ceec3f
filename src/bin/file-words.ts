/** What the system says of a file or a folder, in words for whoever named it. */

const said: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EACCES: 'this user has no right to it',
  EPERM: 'this user has no right to it',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is a file',
  ENAMETOOLONG: 'its name is too long',
  ELOOP: 'its links lead in a circle',
  EIO: 'its disk does not answer as it should',
  EEXIST: 'it is a file',
  EROFS: 'its disk takes no writes',
  ENOSPC: 'its disk is full',
}

/** Why it failed: words for what the system says, `own` where it means something else here; else the error's own. */
export function fileWords(error: unknown, own: Readonly<Record<string, string>> = {}): string {
  if (!isOfSystem(error)) return error instanceof Error ? error.message : String(error)
  const { code = '' } = error
  return own[code] ?? said[code] ?? code
}

/** Whether the system said it, of something outside of this program. */
export const isOfSystem = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'code' in error && /^E[A-Z0-9]+$/.test(String(error.code))

/** Whether it said so of a file or a folder. */
export const isOfFile = (error: unknown): error is NodeJS.ErrnoException =>
  isOfSystem(error) && (error.code ?? '') in said
