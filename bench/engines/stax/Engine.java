import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

/**
 * A Java pull parser (StAX), with namespaces: reads the markup and converts nothing, so it does less than a decoder does. The answer is
 * written from the same events: elements by their local names, attributes and text. Its argument is the class of the factory.
 * The protocol is told in protocol.h; before it is ready, the engine works until the compiler has had its time.
 */
public final class Engine {
  private static final long WARM_UP_NANOSECONDS = 2_000_000_000L;
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private final XMLInputFactory factory;
  private List<byte[]> texts = new ArrayList<>();
  private long seen;

  private Engine(XMLInputFactory factory) {
    this.factory = factory;
    factory.setProperty(XMLInputFactory.IS_NAMESPACE_AWARE, true);
    factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
  }

  public static void main(String[] arguments) throws Exception {
    var factory = (XMLInputFactory) Class.forName(arguments[0]).getDeclaredConstructor().newInstance();
    var engine = new Engine(factory);
    var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String reply;
      try {
        reply = engine.reply(line);
      } catch (IOException | XMLStreamException error) {
        reply = "{\"error\":\"" + String.valueOf(error.getMessage()).replaceAll("[\"\\\\\\p{Cntrl}]", " ") + "\"}";
      }
      System.out.println(reply);
      System.out.flush();
    }
  }

  private String reply(String line) throws IOException, XMLStreamException {
    switch (field(line, "do")) {
      case "prepare":
        if (!field(line, "task").equals("decode")) return "{\"unable\":\"this engine does not do such work\"}";
        texts = load(Path.of(field(line, "text")));
        warmUp();
        return "{\"ok\":true}";
      case "answer":
        answer(Path.of(field(line, "file")));
        return "{\"ok\":true}";
      case "run":
        return run(Long.parseLong(field(line, "times")));
      default:
        return "{\"error\":\"not a command\"}";
    }
  }

  /** The text of a field of a flat JSON object; the other side writes no escapes. */
  private static String field(String line, String name) {
    Matcher found = Pattern.compile("\"" + name + "\":(?:\"([^\"]*)\"|([^,}]*))").matcher(line);
    if (!found.find()) return "";
    return found.group(1) != null ? found.group(1) : found.group(2);
  }

  private static List<byte[]> load(Path path) throws IOException {
    var texts = new ArrayList<byte[]>();
    try (var in = new DataInputStream(new BufferedInputStream(Files.newInputStream(path)))) {
      while (true) {
        byte[] text = new byte[Integer.reverseBytes(in.readInt())];
        in.readFully(text);
        texts.add(text);
      }
    } catch (EOFException end) {
      return texts;
    }
  }

  private void warmUp() throws XMLStreamException {
    long begun = System.nanoTime();
    while (System.nanoTime() - begun < WARM_UP_NANOSECONDS) {
      for (int index = 0; index < Math.min(texts.size(), 100); index++) seen += events(texts.get(index));
    }
  }

  private String run(long times) throws XMLStreamException {
    long cpu = THREADS.getCurrentThreadCpuTime();
    long wall = System.nanoTime();
    for (; times > 0; times--) {
      for (byte[] text : texts) seen += events(text);
    }
    wall = System.nanoTime() - wall;
    cpu = THREADS.getCurrentThreadCpuTime() - cpu;
    return "{\"ns\":" + wall + ",\"cpu_ns\":" + cpu + "}";
  }

  /** All events of a message; of text it is asked where it is, so that none is left unread. */
  private long events(byte[] text) throws XMLStreamException {
    XMLStreamReader reader = factory.createXMLStreamReader(new ByteArrayInputStream(text));
    long events = 0;
    while (reader.hasNext()) {
      if (reader.next() == XMLStreamConstants.CHARACTERS) events += reader.getTextLength();
      events++;
    }
    reader.close();
    return events;
  }

  private void answer(Path file) throws IOException, XMLStreamException {
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(file))) {
      out.write('M');
      for (byte[] text : texts) {
        byte[] message = written(text).getBytes(StandardCharsets.UTF_8);
        int length = message.length;
        out.write(new byte[] {(byte) length, (byte) (length >> 8), (byte) (length >> 16), (byte) (length >> 24)});
        out.write(message);
      }
    }
  }

  private String written(byte[] text) throws XMLStreamException {
    XMLStreamReader reader = factory.createXMLStreamReader(new ByteArrayInputStream(text));
    var out = new StringBuilder();
    while (reader.hasNext()) {
      switch (reader.next()) {
        case XMLStreamConstants.START_ELEMENT:
          out.append('<').append(reader.getLocalName());
          for (int index = 0; index < reader.getAttributeCount(); index++) {
            out.append(' ').append(reader.getAttributeLocalName(index)).append("=\"");
            out.append(escaped(reader.getAttributeValue(index))).append('"');
          }
          out.append('>');
          break;
        case XMLStreamConstants.END_ELEMENT:
          out.append("</").append(reader.getLocalName()).append('>');
          break;
        case XMLStreamConstants.CHARACTERS:
          out.append(escaped(reader.getText()));
          break;
        default:
      }
    }
    reader.close();
    return out.toString();
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;");
  }
}
