import Glibc
import Testing

@testable import Terminal

// One at a time: a question replaces the process's signal handlers.
@Suite(.serialized, .timeLimit(.minutes(5))) struct PromptTests {
  private func secret(on pseudo: PseudoTerminal, limit: Int = 4096) -> Task<Result<String, PromptError>, Never> {
    Task {
      do throws(PromptError) {
        let question = PromptQuestion(text: "Code: ", echoes: false, limit: limit)
        return .success(try await Prompt.ask(question) { () throws(PromptError) in pseudo.prompt })
      } catch {
        return .failure(error)
      }
    }
  }

  private func confirm(on pseudo: PseudoTerminal) -> Task<Bool, any Error> {
    Task { try await Prompt.confirm("Forget studio?") { () throws(PromptError) in pseudo.prompt } }
  }

  @Test func aSecretIsReadAndNeverShown() async throws {
    let pseudo = try PseudoTerminal()
    #expect(pseudo.echoes)
    let answer = secret(on: pseudo)
    _ = try await pseudo.screen(until: "Code: ")
    #expect(!pseudo.echoes)
    try pseudo.type("482913\n")
    #expect(await answer.value == .success("482913"))
    #expect(try await pseudo.screen(until: "\n") == "\r\n")
    #expect(pseudo.echoes)
  }

  @Test func theTerminalIsLeftExactlyAsItWas() async throws {
    let pseudo = try PseudoTerminal()
    var raw = pseudo.attributes
    raw.c_lflag &= ~(tcflag_t(ICANON) | tcflag_t(ISIG))
    tcsetattr(pseudo.terminal, TCSANOW, &raw)
    let before = pseudo.attributes
    let answer = secret(on: pseudo)
    _ = try await pseudo.screen(until: "Code: ")
    try pseudo.type("1\n")
    #expect(await answer.value == .success("1"))
    let after = pseudo.attributes
    #expect(after.c_lflag == before.c_lflag)
    #expect(after.c_iflag == before.c_iflag)
    #expect(after.c_oflag == before.c_oflag)
    #expect(after.c_cflag == before.c_cflag)
  }

  @Test func backspaceTakesBack() async throws {
    let pseudo = try PseudoTerminal()
    let answer = secret(on: pseudo)
    _ = try await pseudo.screen(until: "Code: ")
    try pseudo.type("48x\u{7f}2913\r")
    #expect(await answer.value == .success("482913"))
  }

  @Test func whatWasTypedAheadIsNotTheAnswer() async throws {
    let pseudo = try PseudoTerminal()
    try pseudo.type("early\n")
    _ = try await pseudo.screen(until: "early\r\n")
    let answer = secret(on: pseudo)
    _ = try await pseudo.screen(until: "Code: ")
    try pseudo.type("now\n")
    #expect(await answer.value == .success("now"))
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
  func aSignalRestoresTheTerminalAndEndsTheQuestion(_ signal: Int32) async throws {
    let pseudo = try PseudoTerminal()
    let answer = secret(on: pseudo)
    _ = try await pseudo.screen(until: "Code: ")
    try pseudo.type("half")
    kill(getpid(), signal)
    #expect(await answer.value == .failure(.interrupted(signal: signal)))
    #expect(pseudo.echoes)
  }

  @Test func aContinuedProcessHidesTheSecretAgain() async throws {
    let pseudo = try PseudoTerminal()
    let answer = secret(on: pseudo)
    _ = try await pseudo.screen(until: "Code: ")
    // What a shell does while the process is stopped.
    var echoing = pseudo.attributes
    echoing.c_lflag |= tcflag_t(ECHO)
    tcsetattr(pseudo.terminal, TCSANOW, &echoing)
    kill(getpid(), SIGCONT)
    #expect(try await pseudo.screen(until: "Code: ") == "Code: ")
    #expect(!pseudo.echoes)
    try pseudo.type("482913\n")
    #expect(await answer.value == .success("482913"))
  }

  @Test func signalHandlersAreHandedBack() async throws {
    let pseudo = try PseudoTerminal()
    func handler() -> Int {
      var action = sigaction()
      sigaction(SIGINT, nil, &action)
      return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
    }
    let before = handler()
    let answer = secret(on: pseudo)
    _ = try await pseudo.screen(until: "Code: ")
    #expect(handler() != before)
    try pseudo.type("1\n")
    #expect(await answer.value == .success("1"))
    #expect(handler() == before)
  }

  @Test func cancellationRestoresTheTerminal() async throws {
    let pseudo = try PseudoTerminal()
    let answer = secret(on: pseudo)
    _ = try await pseudo.screen(until: "Code: ")
    answer.cancel()
    #expect(await answer.value == .failure(.cancelled))
    #expect(pseudo.echoes)
  }

  @Test func aQuestionCancelledBeforeItBeganIsNotAnswered() async throws {
    let pseudo = try PseudoTerminal()
    let answer = secret(on: pseudo)
    answer.cancel()
    #expect(await answer.value == .failure(.cancelled))
  }

  @Test func endOfInputIsAnErrorOfItsOwn() async throws {
    let pseudo = try PseudoTerminal()
    let answer = secret(on: pseudo)
    _ = try await pseudo.screen(until: "Code: ")
    try pseudo.type("\u{4}")
    #expect(await answer.value == .failure(.endOfInput))
    #expect(pseudo.echoes)
  }

  @Test func anAnswerBeyondTheLimitIsRefused() async throws {
    let pseudo = try PseudoTerminal()
    let answer = secret(on: pseudo, limit: 6)
    _ = try await pseudo.screen(until: "Code: ")
    try pseudo.type("4829137\n")
    #expect(await answer.value == .failure(.tooLong(limit: 6)))
    #expect(pseudo.echoes)
  }

  @Test func bytesThatAreNoTextAreRefused() async throws {
    let pseudo = try PseudoTerminal()
    let answer = secret(on: pseudo)
    _ = try await pseudo.screen(until: "Code: ")
    try pseudo.type([0xC3, 0x28, 0x0A])
    #expect(await answer.value == .failure(.notText))
  }

  @Test func aDescriptorThatIsNoTerminalIsRefused() async throws {
    let pipe = try #require(WakePipe())
    let question = PromptQuestion(text: "Code: ", echoes: false, limit: 10)
    await #expect(throws: PromptError.noTerminal) {
      try await Prompt.ask(question) { () throws(PromptError) in
        PromptTerminal(input: pipe.readEnd, output: pipe.writeEnd)
      }
    }
  }

  @Test(arguments: [("y\n", true), ("YES \n", true), ("\n", false), ("n\n", false), ("yep\n", false), ("\u{4}", false)])
  func onlyYesConfirms(_ typed: String, _ expected: Bool) async throws {
    let pseudo = try PseudoTerminal()
    let answer = confirm(on: pseudo)
    #expect(try await pseudo.screen(until: "[y/N] ") == "Forget studio? [y/N] ")
    #expect(pseudo.echoes)
    try pseudo.type(typed)
    #expect(try await answer.value == expected)
  }

  @Test func confirmingWithoutATerminalThrows() async {
    await #expect(throws: PromptError.noTerminal) {
      try await Prompt.confirm("Forget studio?") { () throws(PromptError) in throw PromptError.noTerminal }
    }
  }
}
