import Foundation
import Testing

/// Tests of `hpeer backup` and `hpeer restore` on a single machine.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct BackupCommandTests {
  private let scratch: Scratch
  private let home: Host
  private var passphrase: String { scratch.path + "/passphrase" }
  private var backup: String { scratch.path + "/health.tar.zst.age" }

  init() async throws {
    scratch = try Scratch()
    home = scratch.host("home")
    try await home.hold(.small)
    try Data("correct horse\n".utf8).write(to: URL(filePath: scratch.path + "/passphrase"))
  }

  @Test("to a passphrase: age opens it, verify finds it sound, restore brings it back")
  func passphraseFile() async throws {
    let made = try await home.run("backup", "--passphrase-file", passphrase, backup)
    #expect(made.status == 0, "\(made.errors)")
    #expect(made.errors.contains(#/Backed up [\d,]+ samples to .*: everything, encrypted\./#))
    let again = try await home.run("backup", "--passphrase-file", passphrase, backup)
    #expect(again.status == 2 && again.errors.contains("is there already"))

    let verified = try await home.run("backup", "verify", "--passphrase-file", passphrase, "--json", backup)
    #expect(verified.status == 0, "\(verified.errors)")
    let report = try verified.json()
    #expect(report["sound"] as? Bool == true && report["contents"] as? String == "everything")

    if FileManager.default.isExecutableFile(atPath: "/usr/bin/age") {
      let tool = Build.root + "/Tests/Tools/age-passphrase"
      let listed = try await home.sh(
        "cd '\(scratch.path)' && '\(tool)' 'correct horse' -d -o plain '\(backup)' && zstd -d -c plain | tar -t")
      #expect(listed.output.split(separator: "\n").prefix(1) == ["manifest.json"])
      #expect(
        listed.output.contains("identity/key.pem") == FileManager.default.fileExists(atPath: home.home + "/identity"))
      #expect(listed.output.contains("\nstore.sqlite\n"))
    }

    let new = scratch.host("new")
    let unasked = try await new.run("restore", "--passphrase-file", passphrase, backup)
    #expect(unasked.status == 2 && unasked.errors.contains("--new-identity"))
    let restored = try await new.run("restore", "--passphrase-file", passphrase, "--yes", backup)
    #expect(restored.status == 0, "\(restored.errors)")
    #expect(try await new.run("digest").output == home.run("digest").output)
    let refused = try await new.run("restore", "--passphrase-file", passphrase, "--yes", backup)
    #expect(refused.status == 2 && refused.errors.contains("--replace"))
    let replaced = try await new.run("restore", "--passphrase-file", passphrase, "--yes", "--replace", "--json", backup)
    #expect(try #require(try replaced.json()["keptIn"] as? [String]).count == 1, "\(replaced.errors)")

    try Data("wrong\n".utf8).write(to: URL(filePath: scratch.path + "/wrong"))
    let wrong = try await new.run("backup", "verify", "--passphrase-file", scratch.path + "/wrong", backup)
    #expect(wrong.status == 4 && wrong.errors.contains("The passphrase is wrong"))
    let damaged = try await home.run("backup", "verify", try await SampleExport.small.path)
    #expect(damaged.status == 65 && damaged.errors.contains("no backup of hpeer"))
    for command in [["backup", "verify"], ["restore", "--new-identity"]] {
      let missing = try await home.start(command + [scratch.path + "/none.age"]).outcome()
      #expect(missing.status == 65 && missing.errors.contains("name a file that `hpeer backup` has written"))
    }
    let unwritable = try await home.run("backup", "--passphrase-file", passphrase, scratch.path + "/none/a.age")
    #expect(unwritable.status == 1 && unwritable.errors.contains("There is no folder "))
  }

  @Test("the passphrase is asked for twice, and never shown")
  func prompt() async throws {
    let terminal = try PseudoTerminal(["env", "HPEER_HOME=\(home.home)", Build.hpeer, "backup", backup])
    try await terminal.text(matching: #/New passphrase of the backup: /#)
    terminal.type("open sesame\n")
    try await terminal.text(matching: #/The same again: /#)
    terminal.type("open sesame\n")
    #expect(try await terminal.exitStatus() == 0)
    #expect(!terminal.text.contains("sesame"))
    let opened = try PseudoTerminal(["env", "HPEER_HOME=\(home.home)", Build.hpeer, "backup", "verify", backup])
    try await opened.text(matching: #/Passphrase of the backup: /#)
    opened.type("open sesame\n")
    #expect(try await opened.exitStatus() == 0)
    let differing = try PseudoTerminal(["env", "HPEER_HOME=\(home.home)", Build.hpeer, "backup", "--force", backup])
    try await differing.text(matching: #/New passphrase of the backup: /#)
    differing.type("one\n")
    try await differing.text(matching: #/take at least/#)
    differing.type("open sesame\n")
    try await differing.text(matching: #/The same again: /#)
    differing.type("open barley\n")
    try await differing.text(matching: #/The two are not the same/#)
    differing.type("\u{3}")
    #expect(try await differing.exitStatus() == 130)
  }

  @Test("to standard output, for a key of age-keygen, and the record alone")
  func streams() async throws {
    let key = "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX"
    let recipient = "age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj"
    try Data("# a key\n\(key)\n".utf8).write(to: URL(filePath: scratch.path + "/key"))
    let piped = try await home.sh(
      "HPEER_HOME='\(home.home)' '\(Build.hpeer)' backup --recipient \(recipient) - > '\(backup)'")
    #expect(piped.status == 0, "\(piped.errors)")
    let verified = try await home.run("backup", "verify", "--identity-file", scratch.path + "/key", backup)
    #expect(verified.output.contains("Sound: "), "\(verified.errors)")
    #expect(try await home.run("backup", "verify", backup).status == 2)
    #expect(try await home.run("backup", "--recipient", "age1nobody", scratch.path + "/x").status == 2)

    let record = scratch.path + "/record.tar.zst"
    let made = try await home.run("backup", "--unencrypted", record)
    #expect(made.errors.contains("the record alone, not encrypted"))
    #expect(try await home.run("backup", "verify", record).output.contains("the record alone, not encrypted"))
    let new = scratch.host("new")
    #expect(try await new.run("restore", record).status == 0)
    #expect(try await new.run("digest").output == home.run("digest").output)
    #expect(try await new.run("identity").output != home.run("identity").output)
  }
}
