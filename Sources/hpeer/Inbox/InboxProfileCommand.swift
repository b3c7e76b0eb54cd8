import ArgumentParser
import Foundation
import HealthOperations
import Logging
import OperatingSystem
import Terminal

struct InboxProfileCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "profile",
    abstract: "Have a phone trust this machine's inbox.",
    discussion: """
      Phones reject certificates from unknown authorities. This machine has a certificate authority of its own, which is \
      limited to this machine's names and addresses. Its profile is shown as a QR code for the phone's camera, and can be \
      downloaded once, within fifteen minutes.

      Examples:
        hpeer inbox profile
        hpeer inbox profile --output hpeer.mobileconfig # to bring it another way
        hpeer inbox profile --new                       # after a new name or address
      """)

  private static let lifetime = Duration.seconds(900)

  @OptionGroup var common: CommonOptions
  @Option(help: "The port to offer it on; 0 picks a free one.")
  var port = 0
  @Option(help: "The address to listen on, and to show, instead of this machine's first.")
  var bind: String?
  @Option(
    name: .shortAndLong, help: ArgumentHelp("Write the profile into this file instead.", valueName: "file"))
  var output: String?
  @Flag(help: "Make a new authority: phones that trust the one before must install the new profile.")
  var new = false

  func validate() throws { try ListeningPort.require(port, "--port") }

  func run() async throws {
    let home = common.homeDirectory
    let logger = Logger(label: "hpeer") { TerminalLogHandler(label: $0) }
    let operation = try await InboxProfileOperation(home, replaces: new, logger: logger)
    Console.say("It vouches for: \((operation.names.names + operation.names.addresses).joined(separator: ", ")).")
    if let output {
      do {
        try Data(operation.profile.text.utf8).write(to: URL(fileURLWithPath: output), options: .withoutOverwriting)
      } catch {
        throw CommandFailure(
          .other, "\(PlainText.escaped(output, limit: 4_096)) could not be written: name a file that is not there yet.")
      }
      return Console.say("Wrote \(PlainText.escaped(output, limit: 4_096)). \(Self.steps)")
    }
    let (bind, port) = (bind, port)
    let wasFetched = try await interruptible("the profile is not offered any more.") {
      try await operation.run(host: bind, port: port, lifetime: Self.lifetime, tell: Self.show)
    }
    guard wasFetched else {
      throw CommandFailure(.temporary, "The profile was not downloaded within fifteen minutes. Run this again.")
    }
    Console.say("Handed over. \(Self.steps)")
  }

  private static let steps = """
    On the phone: Settings, Profile Downloaded, Install; then Settings, General, About, Certificate Trust Settings, and \
    switch on "hpeer inbox".
    """

  @Sendable private static func show(_ offer: InboxProfileOperation.Offer) {
    let text = [
      TextLine("Point the phone's camera here, or open in Safari:"), TextLine("  \(offer.url)", .bold), TextLine(""),
      TextLine("The phone shows, under More Details, the certificate's SHA-256:"),
      TextLine("  \(offer.authority.fingerprint.grouped)", .dim), TextLine(""), TextLine("Ctrl-C: stop"),
    ]
    let capabilities = Console.capabilities
    let size = TerminalSize.ofWindow(of: [.error]) ?? capabilities.size
    if let style = QRCode.RenderingStyle(for: .error, of: capabilities), let code = try? QRCode(offer.url),
      let lines = code.rendered(with: text, in: size, style: style, textStyle: Console.style)
    {
      for line in lines { Console.say(line) }
    } else {
      for line in text where !line.text.isEmpty { Console.say(line.painted(Console.style)) }
    }
  }
}
