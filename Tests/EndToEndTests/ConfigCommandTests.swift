import Foundation
import Testing

/// Tests of options set in config.toml or the environment, and of their precedence.
@Suite(.timeLimit(.minutes(5)))
struct ConfigCommandTests {
  private let scratch: Scratch
  private var home: Host { scratch.host("home") }
  private var path: String { home.home + "/config.toml" }

  init() throws { scratch = try Scratch() }

  private func write(_ text: String) throws {
    try FileManager.default.createDirectory(atPath: home.home, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(filePath: path))
  }

  @Test("init writes every setting as a comment, once, and what is taken out of the comments makes sense")
  func template() async throws {
    #expect(try await home.run("config", "check").status == 0)
    let made = try await home.run("config", "init")
    #expect(made.status == 0, "\(made.errors)")
    #expect(try await home.run("config", "init").status == 2)
    #expect(try await home.run("config", "path").output == path + "\n")
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(text == (try await home.run("config", "init", "--print").output))
    #expect(text.split(separator: "\n").allSatisfy { $0.hasPrefix("#") })
    #expect(
      try await home.run("config", "check").errors.contains("0 destinations, 0 automations, options of 0 commands"))
    for option in ["port", "bind", "name", "audit-days", "no-advertise"] {
      #expect(text.contains("\n#\(option) = "), "\(option)")
    }
    // Every table of a command, and every option in it that has a value.
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let commands = lines.prefix { !$0.hasPrefix("# Where else") }.dropFirst(6).map { line in
      line.hasPrefix("#") && !line.hasPrefix("# ") && !line.hasSuffix("= \"\"") ? String(line.dropFirst()) : line
    }
    try write(commands.joined(separator: "\n"))
    let checked = try await home.run("config", "check")
    #expect(checked.status == 0, "\(checked.errors)")
    #expect(try await home.run("serve", "--help").output.contains("--port"))
  }

  @Test("where no file can be made: which, why and what to do")
  func unusableFolder() async throws {
    try Data().write(to: URL(filePath: home.home))
    for words in try await [["config", "init"], ["import", SampleExport.small.path]] {
      let refused = try await home.start(words).outcome()
      #expect(refused.status == 1)
      let sentence = refused.errors.trimmingCharacters(in: .whitespacesAndNewlines)
      #expect(sentence.contains("\(home.home) ") && sentence.contains("(Not a directory): "), "\(sentence)")
    }
  }

  @Test("the command line counts before the environment, that before the file, and run reads what serve does")
  func precedence() async throws {
    try write("[serve]\nno-advertise = true\nbind = \"127.0.0.1\"\nport = 0\n\n[types]\njson = true\n")
    let (serving, _) = try await home.serve(["--no-advertise"])
    serving.send(SIGTERM)
    #expect(try await serving.outcome().status == 0)

    #expect(try await home.run("import", SampleExport.small.path).status == 0)
    #expect(try await home.run("types").output.hasPrefix("{"))
    let shown = try await home.start(["config", "show", "serve", "--json"], environment: ["HPEER_SERVE_PORT": "70"])
      .outcome()
    #expect(shown.output.contains(#""option":"port","origin":"environment","place":"HPEER_SERVE_PORT","value":"70""#))
    #expect(shown.output.contains(#""option":"bind","origin":"file","place":"[serve]","value":"127.0.0.1""#))
    // 70000 is no port: whose word counts is seen by who is refused.
    let environment = ["HPEER_SERVE_PORT": "70000"]
    #expect(try await home.start(["serve"], environment: environment).outcome().status == 2)
    #expect(try await home.start(["run"], environment: environment).outcome().status == 2)
    let (given, _) = try await home.serve(["--port", "0", "--no-advertise"], environment: environment)
    given.send(SIGTERM)
    #expect(try await given.outcome().status == 0)
    let wrong = try await home.start(["types"], environment: ["HPEER_TYPES_JSON": "maybe"]).outcome()
    #expect(wrong.status == 2 && wrong.errors.contains("HPEER_TYPES_JSON"))
  }

  @Test("what is no option is said with its line, by check and by the command, and keeps no other from its work")
  func mistakes() async throws {
    try write("# One.\n[serve]\nadit-days = 1\n")
    for words in [["config", "check"], ["serve"], ["run"]] {
      let outcome = try await home.start(words).outcome()
      #expect(outcome.status == 2)
      #expect(
        outcome.errors.contains("config.toml:3: serve.adit-days: is no setting here; did you mean audit-days?"),
        "\(outcome.errors)")
    }
    #expect(try await home.run("import", SampleExport.small.path).status == 0)
    try write("[serve]\nlocked = \"yes\"\n")
    #expect(try await home.run("config", "check").errors.contains("must be true or false"))
    for port in ["70000", "-1", "\"many\""] {
      try write("# One.\n[serve]\nport = \(port)\n")
      let outcome = try await home.run("config", "check")
      #expect(outcome.status == 2)
      #expect(
        outcome.errors.contains("config.toml:3: serve.port: takes a number from 0 to 65535."), "\(outcome.errors)")
    }
    try write("[serve]\nport = \"0\"\n")
    #expect(try await home.run("config", "check").status == 0)
    try write("[seve]\nport = 1\n")
    #expect(try await home.run("config", "check").errors.contains("did you mean serve?"))
    // Nothing that must be asked for each time.
    try write("[import]\nmerge-person = true\n")
    #expect(try await home.run("config", "check").status == 2)
  }
}
