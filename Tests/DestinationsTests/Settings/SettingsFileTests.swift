import Foundation
import HealthModel
import Testing

@testable import Destinations

@Suite struct SettingsFileTests {
  private static let kinds: [any Destination.Type] = [FilesDestination.self, ParcelDestination.self]

  private func read(_ text: String) throws -> SettingsFile {
    try SettingsFile(text: text, path: "config.toml", kinds: Self.kinds)
  }

  private static let whole = """
    # What I have.
    [destination.home]   # the NAS
    kind = "files"
    folder = "~/health"
    types = ["stepCount",
      "HKQuantityTypeIdentifierHeartRate"]
    from = 2024-06-15
    to = "2024-07"
    sources = ["Robin's Watch"]
    names = false

    # The other.
    [destination.away]
    kind = "parcels"
    url = "https://example.org/"
    token = "env:TOKEN"
    enabled = false
    """

  @Test("what a person has set is there, of its type")
  func settings() throws {
    let file = try read(Self.whole)
    #expect(file.destinations.map(\.name) == ["away", "home"])
    let home = try #require(file.destination("home"))
    #expect(home.consumer == "files:home")
    #expect(home.line == 2)
    #expect(try home.settings.text("folder") == "~/health")
    #expect(
      home.common.types == [
        SampleType("HKQuantityTypeIdentifierStepCount"), SampleType("HKQuantityTypeIdentifierHeartRate"),
      ])
    #expect(!home.common.sendsNames && home.common.isEnabled)
    let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
    let filter = home.common.filter(in: zone)
    #expect(filter.earliest == Timestamp(iso8601: "2024-06-15T00:00:00+02:00"))
    #expect(filter.end == Timestamp(iso8601: "2024-08-01T00:00:00+02:00"))
    #expect(filter.sources == ["Robin's Watch"])
    #expect(try #require(file.destination("away")).common.isEnabled == false)
    #expect(try read("").destinations.isEmpty)
  }

  @Test(
    "what is wrong is said with its place",
    arguments: [
      ("[destination.a\nkind = 1", 1, nil),
      ("[destination.a]\nkind = \"files\"\nfolder = \"x\"\nfolder = \"y\"", 4, nil),
      ("x = 1\n\n[destination.a]\nkind = \"files\"\nfolder = ", 5, nil),
      ("[destination.a]\nkind = \"fils\"\nfolder = \"x\"", 2, "did you mean files?"),
      ("[destination.a]\nfolder = \"x\"", 1, "must be one of files, parcels"),
      ("[destination.a]\nkind = \"files\"", 1, "is missing"),
      ("\n[destination.a]\nkind = \"files\"\nfolder = \"x\"\nfodler = \"y\"", 5, "did you mean folder?"),
      ("[destination.a]\nkind = \"files\"\nfolder = \"x\"\nenabeld = true", 4, "did you mean enabled?"),
      ("[destination.a]\nkind = \"files\"\nfolder = 3", 3, "must be a path"),
      ("[destination.a]\nkind = \"files\"\nfolder = \"x\"\ntypes = [\"stepcont\"]", 4, "did you mean stepCount"),
      ("[destination.a]\nkind = \"files\"\nfolder = \"x\"\ntypes = [1]", 4, "must be a list"),
      ("[destination.a]\nkind = \"files\"\nfolder = \"x\"\nfrom = \"7d\"", 4, "a date that stays"),
      ("[destination.a]\nkind = \"parcels\"\nurl = \"https://h/\"\ntoken = \"hunter2\"", 4, "and not be it"),
      ("[destination.a]\nkind = \"parcels\"\nurl = \"ftp://h/\"\ntoken = \"env:T\"", 3, "a URL of ftp"),
      ("[destination.a]\nkind = \"parcels\"\nurl = \"https://h:65536/\"", 3, "a port that there is not"),
      ("[destination.a]\nkind = \"parcels\"\nurl = \"https://h:0/\"", 3, "a port that there is not"),
      (
        "[destination.a]\nkind = \"parcels\"\nurl = \"https://h:999999999999999999999/\"", 3, "a port that there is not"
      ),
      ("[destination.\"a b\"]\nkind = \"files\"\nfolder = \"x\"", 1, "a name is of letters"),
      ("[destinations.a]\nkind = \"files\"", 1, "did you mean destination?"),
      ("destination = 3", 1, "destinations are tables"),
      ("[destination]\na = 3", 2, "a destination is a table"),
      ("x = 1\n[\nkind = 1", 2, "a table has a name"), ("\u{FEFF}[ \u{A0}# a\n", 1, "a table has a name"),
      ("a = \"\"\"\n[\n\"\"\"\r\n\t[[\r\n", 4, "a table has a name"),
    ])
  func mistakes(_ text: String, _ line: Int, _ part: String?) throws {
    let error = #expect(throws: SettingsFileError.self) { try read(text) }
    #expect(error?.line == line)
    // What is no TOML has a column, too.
    #expect((error?.column == nil) == (part != nil && part != "a table has a name"))
    if let part { #expect(error?.description.contains(part) == true, "\(error.map { "\($0)" } ?? "")") }
    #expect(error?.description.contains("hunter2") == false)
  }

  @Test("what is no text is none")
  func bytes() {
    for bytes: [UInt8] in [[0xFF], Array("a = \"\0\"".utf8), Array(repeating: 0x20, count: 2_000_000)] {
      #expect(throws: SettingsFileError.self) {
        try SettingsFile(bytes: bytes, path: "config.toml", kinds: Self.kinds)
      }
    }
  }

  @Test("nesting without end is an error")
  func nesting() {
    for open in ["[", "{a="] {
      #expect(throws: SettingsFileError.self) { try read("a = " + String(repeating: open, count: 100_000)) }
    }
  }

  // MARK: Editing

  @Test("one more is added at the end, and what was there stays as it was")
  func appending() throws {
    for text in ["", "# mine", Self.whole, Self.whole + "\n"] {
      let file = try read(text).appending(
        "new-1", kind: DestinationKind("files"),
        [("folder", .text("a \"b\"\\\n\u{7}ü")), ("sources", .list(["x", "y"]))])
      #expect(file.text.hasPrefix(text))
      let section = try #require(file.destination("new-1"))
      #expect(try section.settings.text("folder") == "a \"b\"\\\n\u{7}ü")
      #expect(section.common.sources == ["x", "y"])
      // And back.
      let removed = try SettingsFile.removing("new-1", from: file.text, path: "config.toml")
      #expect(removed.trimmingCharacters(in: .newlines) == text.trimmingCharacters(in: .newlines))
    }
    #expect(throws: SettingsFileError.self) {
      try read(Self.whole).appending("home", kind: DestinationKind("files"), [("folder", .text("x"))])
    }
    #expect(throws: SettingsFileError.self) { try read("").appending("a", kind: DestinationKind("files"), []) }
  }

  @Test("adding and removing again and again leaves no more blank lines")
  func repeatedly() throws {
    var (text, sizes) = (Self.whole, Set<Int>())
    for _ in 0..<5 {
      text = try read(text).appending("new", kind: DestinationKind("files"), [("folder", .text("x"))]).text
      text = try SettingsFile.removing("new", from: text, path: "config.toml")
      sizes.insert(text.utf8.count)
    }
    #expect(sizes.count == 1 && text.hasPrefix(Self.whole))
  }

  @Test("exactly its section is removed")
  func removing() throws {
    let text = try SettingsFile.removing("home", from: Self.whole, path: "config.toml")
    #expect(
      text == """
        # What I have.

        # The other.
        [destination.away]
        kind = "parcels"
        url = "https://example.org/"
        token = "env:TOKEN"
        enabled = false
        """)
    #expect(try read(text).destinations.map(\.name) == ["away"])
    let rest = try SettingsFile.removing("away", from: Self.whole, path: "config.toml")
    #expect(rest.hasSuffix("names = false\n\n# The other."))
  }

  @Test(
    "a section is removed whose header is written with quotation marks or escapes",
    arguments: [
      #"[destination."home"]"#, #"[ 'destination' . 'home' ]"#, #"[destination."ho\u006De"]"#,
      #"["destin\U00000061tion"."\u0068ome"]"#,
    ])
  func removingQuoted(_ header: String) throws {
    let text = "\(header) # mine\nkind = \"files\"\nfolder = \"a\"\n\n[destination.b]\nkind = \"files\"\nfolder = 3\n"
    let rest = try SettingsFile.removing("home", from: text, path: "config.toml")
    #expect(rest == "[destination.b]\nkind = \"files\"\nfolder = 3\n")
    // And a mistake in one is told with its line.
    let error = #expect(throws: SettingsFileError.self) { try read("\n\(header)\nkind = \"files\"\nfolder = 3\n") }
    #expect(error?.line == 4)
  }

  @Test("what is no escape of a name is none, and ends nothing early")
  func brokenEscapes() throws {
    for name in [#"\u00"#, #"\uD800"#, #"\U00110000"#, #"\u+068"#, #"\"#] {
      #expect(TOMLOutline("[destination.\"\(name)\"]\nkind = 1\n").entries.last?.line == 2)
    }
  }

  @Test("a mark of the byte order before a section is no part of its name")
  func byteOrderMark() throws {
    let text = "\u{FEFF}[destination.a]\nkind = \"files\"\nfolder = \"a\"\n"
    #expect(try read(text).destination("a")?.line == 1)
    #expect(try SettingsFile.removing("a", from: text, path: "x").isEmpty)
    let broken = #expect(throws: SettingsFileError.self) { try read("\u{FEFF}surplus = 1\n") }
    #expect(broken?.line == 1)
  }

  @Test("a section with tables of its own, texts over several lines and other line ends is removed whole")
  func removingTables() throws {
    let text =
      "[destination.a]\r\nkind = \"files\"\r\nfolder = '''\r\n[destination.b]\r\nkind = 1'''\r\n[destination.a.x]\r\ny = [ # [\r\n 1 ]\r\n\r\n[destination.c]\r\nkind = \"files\"\r\nfolder = \"c\"\r\n"
    #expect(
      try SettingsFile.removing("a", from: text, path: "x")
        == "[destination.c]\r\nkind = \"files\"\r\nfolder = \"c\"\r\n")
  }

  @Test("what is not a section of its own is left to a person")
  func removingOthers() {
    for text in [
      "destination.a.kind = \"files\"", "[destination]\na = { kind = \"files\" }", "[destination.b]\nkind = 1",
    ] {
      #expect(throws: SettingsFileError.self) { try SettingsFile.removing("a", from: text, path: "x") }
    }
  }

  @Test("an outline of whatever comes to an end")
  func hostile() {
    for text in [
      "[", "[[", "\"", "'''", "a = \"\"\"", "a = \"\\", "=", "a.", "[a]]\n]", "a = [\n[\n", "\r", "a = '", "\\",
    ] {
      for repeated in [text, text + "\n" + text, String(repeating: text, count: 50)] {
        let outline = TOMLOutline(repeated)
        #expect(outline.entries.allSatisfy { $0.line <= $0.lastLine })
      }
    }
  }
}
