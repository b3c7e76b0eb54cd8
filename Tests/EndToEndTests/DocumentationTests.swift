import Foundation
import Testing

/// Tests that the documentation is right: its links, the commands that it mentions, and the output that it shows.
@Suite(.timeLimit(.minutes(10)))
struct DocumentationTests {
  private func script(_ name: String, _ arguments: String...) async throws -> Outcome {
    try await RunningCommand([Build.root + "/scripts/" + name, "--hpeer", Build.hpeer] + arguments)
      .outcome(within: .seconds(300))
  }

  @Test("links lead somewhere, commands and options are there, and the reference is complete (scripts/check-pages)")
  func pages() async throws {
    let outcome = try await script("check-pages")
    #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
  }

  @Test("what is wrong with a page is found, and where")
  func faults() async throws {
    let scratch = try Scratch()
    let page = scratch.path + "/page.md"
    let lines = [
      "# A page", "[gone](nowhere.md) and [no heading](#other)", "`hpeer pul`, `hpeer pull --al`, `hpeer types --json`",
      "",
      "```console", "$ hpeer stats --by fortnight stepCount", "$ hpeer show", "$ hpeer types | hpeer nonsense", "```",
    ]
    try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: page))
    let outcome = try await script("check-pages", page)
    #expect(outcome.status == 1)
    for (line, words) in [
      (2, "nowhere.md leads to nothing"), (2, "#other: there is no such heading"), (3, "no command `pul`"),
      (3, "has no option --al"), (6, "--by does not take fortnight"), (8, "no command `nonsense`"),
    ] {
      #expect(outcome.output.contains("page.md:\(line): "), "\(outcome.output)")
      #expect(outcome.output.contains(words), "\(words) in \(outcome.output)")
    }
    #expect(!outcome.output.contains("types --json"), "\(outcome.output)")
  }

  @Test("a block that shows something else than is printed is found, and so is another exit code")
  func blocks() async throws {
    let scratch = try Scratch()
    let page = scratch.path + "/page.md"
    for (shown, fault) in [
      ("hpeer config path\n/home/ada/.config/hpeer/config.toml", nil),
      ("hpeer config path\nnonsense", "prints something else than is shown"),
      ("hpeer types\n...\n(exit code 10)", nil), ("hpeer types\n...", "ended with 10, not with 0"),
    ] {
      try Data("# A page\n\n```console run\n$ \(shown)\n```\n".utf8).write(to: URL(filePath: page))
      let outcome = try await script("run-pages", "--check", page)
      #expect(outcome.status == (fault == nil ? 0 : 1), "\(outcome.output)\(outcome.errors)")
      if let fault { #expect(outcome.errors.contains(fault), "\(outcome.errors)") }
    }
  }

  @Test(
    "the pages show what is printed; if not, run scripts/run-pages",
    .enabled(if: TwoHosts.obstacle == nil, "two hosts need root: \(TwoHosts.obstacle ?? "")"))
  func shown() async throws {
    let outcome = try await script("run-pages", "--check")
    #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
  }
}
