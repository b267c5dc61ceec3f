/** How mail leaves this platform: by a server, or into the data folder where everyone who may can read it. */
import { createFolderMailer, createSmtpMailer, type Mailer } from '../services/mail.ts'
import { type Config, mailFolder } from './config.ts'

/** Mail through the SMTP server, or as files in the data folder where none is set. */
export const mailerOf = (config: Config): Mailer =>
  config.smtpUrl === undefined
    ? createFolderMailer(mailFolder(config), config.mailFrom)
    : createSmtpMailer(config.smtpUrl, config.mailFrom)
