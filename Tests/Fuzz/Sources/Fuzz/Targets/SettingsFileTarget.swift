import Destinations
import Foundation

extension FuzzTarget {
  /// A settings file: read or refused with a place in it, and edited without touching anything else.
  @Sendable static func settingsFile(_ input: [UInt8]) {
    let text = text(input)
    let lines = text.utf8.count { $0 == UInt8(ascii: "\n") } + 1
    do {
      let file = try SettingsFile(bytes: input, path: "config.toml")
      for section in file.destinations {
        require((1...lines).contains(section.line), "a line of the file")
        require(DestinationSection.isName(section.name), "a name")
      }
      let name = "fuzzed-\(file.destinations.count)"
      guard file.destination(name) == nil,
        let more = try? file.appending(name, kind: DestinationKind("folder"), [("path", .text(text))])
      else { return }
      require(more.text.hasPrefix(file.text), "what was there stays")
      require((try? more.destination(name)?.settings.text("path")) == text, "what is written is read")
      guard let removed = try? SettingsFile.removing(name, from: more.text, path: "config.toml"),
        let again = try? SettingsFile(text: removed, path: "config.toml")
      else { return require(false, "what was added can be removed") }
      require(again.destinations.map(\.name) == file.destinations.map(\.name), "the others stay")
    } catch let error as SettingsFileError {
      require(error.line.map { (1...lines + 1).contains($0) } ?? true, "line \(error.line ?? 0) of \(lines)")
    } catch {
      require(false, "an error of its own: \(error)")
    }
    // Also of what is no settings file.
    _ = try? SettingsFile.removing("a", from: text, path: "config.toml")
  }
}
