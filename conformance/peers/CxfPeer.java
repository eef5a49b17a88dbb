// Apache CXF: a service with and without MTOM and WS-Addressing, or a client of such a service that checks the answers itself.
//
// java -cp "JARS/*" CxfPeer.java serve PLAIN_WSDL ADDRESSED_WSDL    prints its port, writes both WSDLs; ends with its input
// java -cp "JARS/*" CxfPeer.java call WSDL ADDRESS plain|addressed  exits with 0 when all answers are right

import jakarta.activation.DataHandler;
import jakarta.jws.WebParam;
import jakarta.jws.WebService;
import jakarta.mail.util.ByteArrayDataSource;
import jakarta.xml.bind.annotation.XmlElement;
import jakarta.xml.bind.annotation.XmlMimeType;
import jakarta.xml.ws.BindingProvider;
import jakarta.xml.ws.Endpoint;
import jakarta.xml.ws.Service;
import jakarta.xml.ws.WebFault;
import jakarta.xml.ws.WebServiceFeature;
import jakarta.xml.ws.soap.AddressingFeature;
import jakarta.xml.ws.soap.MTOMFeature;
import java.io.InputStream;
import java.math.BigDecimal;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.xml.datatype.DatatypeFactory;
import javax.xml.datatype.XMLGregorianCalendar;
import javax.xml.namespace.QName;

public class CxfPeer {
    static final String NAMESPACE = "urn:bsoap:cxf";

    public static class Measurement {
        public String station;
        @XmlElement(required = true) public XMLGregorianCalendar at;
        @XmlElement(required = true) public BigDecimal amount;
        @XmlElement(nillable = true) public String note;
        public List<Double> values = new ArrayList<>();
    }

    public static class ProblemInfo {
        public int code;
        public String text;
    }

    @WebFault(name = "problem", targetNamespace = NAMESPACE)
    public static class Problem extends Exception {
        private final ProblemInfo info;

        public Problem(String message, ProblemInfo info) {
            super(message);
            this.info = info;
        }

        public ProblemInfo getFaultInfo() {
            return info;
        }
    }

    @WebService(targetNamespace = NAMESPACE, name = "EchoType")
    public interface Echo {
        String reading(
                @WebParam(name = "station") String station,
                @WebParam(name = "value") double value,
                @WebParam(name = "quality") int quality);

        Measurement observe(@WebParam(name = "measurement") Measurement measurement);

        @XmlMimeType("application/octet-stream")
        DataHandler photo(@WebParam(name = "photo") @XmlMimeType("application/octet-stream") DataHandler photo);

        void refuse(@WebParam(name = "reason") String reason) throws Problem;
    }

    @WebService(targetNamespace = NAMESPACE, serviceName = "Echo", portName = "Echo", endpointInterface = "CxfPeer$Echo")
    public static class EchoService implements Echo {
        public String reading(String station, double value, int quality) {
            return station + "|" + Double.doubleToLongBits(value) + "|" + quality;
        }

        public Measurement observe(Measurement measurement) {
            return measurement;
        }

        public DataHandler photo(DataHandler photo) {
            return photo;
        }

        public void refuse(String reason) throws Problem {
            ProblemInfo info = new ProblemInfo();
            info.code = 7;
            info.text = reason;
            throw new Problem(reason, info);
        }
    }

    static void serve(Path plain, Path addressed) throws Exception {
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        String base = "http://127.0.0.1:" + port + "/";
        Endpoint.publish(base + "plain", new EchoService());
        WebServiceFeature[] features = {new MTOMFeature(true, 1000), new AddressingFeature(true, true)};
        Endpoint.create(new EchoService(), features).publish(base + "addressed");
        write(base + "plain?wsdl", plain);
        write(base + "addressed?wsdl", addressed);
        System.out.println(port);
        while (System.in.read() >= 0) {
            // Until whoever started it ends.
        }
        System.exit(0);
    }

    static void write(String address, Path path) throws Exception {
        try (InputStream wsdl = URI.create(address).toURL().openStream()) {
            Files.copy(wsdl, path, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    static void same(Object found, Object expected, String what) {
        if (!expected.equals(found)) {
            System.err.println(what + ": " + found + " is not " + expected);
            System.exit(1);
        }
    }

    static void call(String wsdl, String address, boolean isAddressed) throws Exception {
        Service service = Service.create(Path.of(wsdl).toUri().toURL(), new QName(NAMESPACE, "Echo"));
        WebServiceFeature[] features = isAddressed
                ? new WebServiceFeature[] {new MTOMFeature(true, 1000), new AddressingFeature(true, true)}
                : new WebServiceFeature[0];
        Echo echo = service.getPort(Echo.class, features);
        ((BindingProvider) echo).getRequestContext().put(BindingProvider.ENDPOINT_ADDRESS_PROPERTY, address);

        same(echo.reading("Łódź & <co>", 0.1, -7), "Łódź & <co>|" + Double.doubleToLongBits(0.1) + "|-7", "reading");

        Measurement sent = new Measurement();
        sent.station = "Łódź & <co>";
        sent.at = DatatypeFactory.newInstance().newXMLGregorianCalendar("2024-02-29T23:59:59.125+01:00");
        sent.amount = new BigDecimal("12345678901234567890.125");
        for (int i = 0; i < 100_000; i++) {
            sent.values.add(Math.scalb(1.0 + i / 3.0, i % 600 - 300));
        }
        Measurement found = echo.observe(sent);
        same(found.station, sent.station, "station");
        same(found.at.toXMLFormat(), sent.at.toXMLFormat(), "at");
        same(found.amount, sent.amount, "amount");
        same(found.note == null, true, "note");
        same(found.values, sent.values, "values");

        for (int length : new int[] {0, 10, 3_000_000}) {
            byte[] photo = new byte[length];
            for (int i = 0; i < length; i++) {
                photo[i] = (byte) (i * 7 + i / 251);
            }
            DataHandler answer = echo.photo(new DataHandler(new ByteArrayDataSource(photo, "application/octet-stream")));
            same(Arrays.equals(answer.getInputStream().readAllBytes(), photo), true, "photo of " + length);
        }

        try {
            echo.refuse("no ü");
            same("no fault", "a fault", "refuse");
        } catch (Problem problem) {
            same(problem.getMessage(), "no ü", "refuse");
            same(problem.getFaultInfo().code, 7, "refuse: the code");
            same(problem.getFaultInfo().text, "no ü", "refuse: the text");
        }
    }

    public static void main(String[] arguments) throws Exception {
        // By default an element may have 50 000 children.
        System.setProperty("org.apache.cxf.stax.maxChildElements", "1000000");
        if (arguments[0].equals("serve")) {
            serve(Path.of(arguments[1]), Path.of(arguments[2]));
        } else {
            call(arguments[1], arguments[2], arguments[3].equals("addressed"));
            System.exit(0);
        }
    }
}
