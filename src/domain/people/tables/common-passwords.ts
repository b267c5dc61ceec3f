/** Passwords that everybody tries first, in lower case; shorter ones are refused for their length. */
export const commonPasswords: ReadonlySet<string> = new Set(
  `password password1 password12 password123 passw0rd passwort motdepasse 12345678 123456789 1234567890 0123456789
  87654321 987654321 0987654321 11111111 111111111 00000000 000000000 88888888 12341234 11223344 12121212 123123123
  123321123 147258369 123654789 159753456 1q2w3e4r 1q2w3e4r5t q1w2e3r4 1qaz2wsx zaq12wsx qazwsxedc qwertyui
  qwertyuiop qwerty12 qwerty123 qwerty1234 asdfghjk asdfghjkl zxcvbnm1 abcdefgh abcdefghi abcd1234 abc12345 a1234567
  aa123456 a12345678 iloveyou iloveyou1 princess sunshine football baseball superman starwars trustno1 whatever
  computer internet michelle jennifer changeme letmein1 welcome1 welcome123 administrator admin123 admin1234
  default1 testtest test1234 liverpool charlie1 lovelove`.split(/\s+/),
)
